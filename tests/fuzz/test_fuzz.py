"""A few seconds of `make fuzz`, and the inputs that once failed."""

import pytest

from fuzz.campaign import Campaign, Find
from fuzz.mutate import LONGEST, Mutator
from fuzz.targets import TARGETS, Target


@pytest.mark.parametrize("name", TARGETS)
def test_beginnings_are_good(name: str) -> None:
    for data in TARGETS[name].beginnings:
        TARGETS[name].run(data)


@pytest.mark.slow
def test_a_short_campaign_finds_nothing() -> None:
    campaign = Campaign(list(TARGETS.values()), "short")
    assert list(campaign.run(4000, parts=2)) == [2000, 4000]
    assert campaign.counts.keys() == TARGETS.keys()


def test_the_same_seed_gives_the_same_inputs() -> None:
    def some(seed: str) -> list[bytes]:
        mutator = Mutator([b"one\ntwo 7\n", b""], [b"token"], seed)
        return [mutator.next() for _ in range(500)]

    assert some("1") == some("1") != some("2")
    assert max(map(len, some("1"))) <= LONGEST
    assert len(set(some("1"))) > 400


def test_a_find_says_how_to_see_it_again() -> None:
    def picky(data: bytes) -> None:
        assert b"7" not in data

    campaign = Campaign([Target("picky", picky, [b"it's \xff"], [b"7"])], "1")
    with pytest.raises(Find, match=r"(?s)^picky, input \d+: AssertionError.*python -m fuzz --replay picky 'b"):
        list(campaign.run(1000))


FOUND = [
    # The session ends during a comparison with a baseline. The baseline ends with the session.
    (
        "session",
        b'+\n<0 initialize {"adapterID":"raydap"}\n<0 attach {}\n<0 configurationDone\nr\np0\na0\n'
        b'*0 stopped {"reason":"breakpoint","threadId":1}\n<0 raydap/compare {"expression":"x","keep":"before"}\n'
        b'a0\na0\n<0 raydap/compare {"expression":"x","baseline":"before"}\n<0 disconnect\na0\na0\n',
    ),
    # A worker ends while a barrier is set, before it has reported at which breakpoint it stopped.
    (
        "session",
        b'+\n<0 initialize {"adapterID":"raydap"}\n<0 attach {}\n'
        b'<0 setFunctionBreakpoints {"breakpoints":[{"name":"step","hitCondition":"all"}]}\n'
        b'<0 configurationDone\nr\np0\na0\n*0 stopped {"reason":"function breakpoint","threadId":1}\nx0\nt9\n',
    ),
    # Lone surrogates in a choice; a port with more digits than Python converts to a number.
    ("arguments", b'{"workers":["10.0.0.1:5678"],"sessions":"perWor\\udc80ker"}'),
    ("arguments", b'{"workers":["a:' + b"9" * 4400 + b'"]}'),
    # Numbers with more digits than Python converts, Python code that is too deep for its parser, and a user name with a
    # NUL.
    ("commands", b"up " + b"9" * 4400 + b"\nlist " + b"9" * 4400 + b"\nb a.py:" + b"9" * 4400),
    ("commands", b"[all] " + b"-" * 4000 + b"1\n" + b"x." * 1500 + b"x"),
    ("commands", b"b ~\x00/a.py:3\nlist 0, 5"),
    # A lone surrogate in place of a number.
    ("messages", b'{"seq":4,"type":"response","request_seq":"no \\ud83d"}'),
]


@pytest.mark.parametrize(("name", "data"), FOUND)
def test_what_was_found_stays_repaired(name: str, data: bytes) -> None:
    TARGETS[name].run(data)
