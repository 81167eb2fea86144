"""The language of sets: errors name the place of the mistake, and any text is either read or refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raydap.analysis.sets.set_syntax import QUALIFIERS, parse
from raydap.errors import Code, ProblemError
from support.examples import examples

KEPT = {"a": "rank:1", "loop": "set:loop", "one": "set:two", "two": "set:one", "old": "actor:"}

WRONG = {
    "actr:Foo": 'at "actr:Foo" (character 1): unknown qualifier actr (did you mean actor); put a name with a colon in',
    "x:1": f'at "x:1" (character 1): unknown qualifier x (known: {", ".join(QUALIFIERS)}); put a name with',
    "rank:x": 'at "rank:x" (character 1): x is neither a number nor a range such as 4-7',
    "loader rank:7-4": 'at "rank:7-4" (character 8): the range 7-4 is empty',
    "rank:1\u0662": 'at "rank:1\u0662" (character 1): 1\u0662 is neither a number nor a range such as 4-7',
    "actor:": 'at "actor:" (character 1): a value must follow actor:',
    "actor:,": 'at "actor:," (character 1): a value must follow actor:',
    "state:idle": (
        'at "state:idle" (character 1): unknown state idle '
        "(known: paused, attaching, stopped, held, running, detached, alive, gone)"
    ),
    "(a or b": 'at "(" (character 1): this ( is not closed',
    "a ) b": 'at ")" (character 3): unmatched )',
    "()": 'at ")" (character 2): a word is missing before )',
    "a or": "at its end: a word is missing before the end",
    "not": "at its end: a word is missing before the end",
    "and a": 'at "and" (character 1): a word is missing before and',
    "a or where x": 'at "where" (character 6): a word is missing before where',
    'a "b c': 'at ""b c" (character 3): this quote is not closed',
    "where": 'at "where" (character 1): a Python expression must follow',
    "a where x =": 'at "x =" (character 8): this is not a Python expression (invalid syntax)',
    "set:b": 'at "set:b" (character 1): unknown set b (known: a, loop, one, two, old)',
    "set:old": 'old is wrong at "actor:" (character 1): a value must follow actor:',
    "set:loop": 'loop is wrong at "set:loop" (character 1): the set loop contains itself',
    "set:one": 'two is wrong at "set:one" (character 1): the set one contains itself',
    "not " * 99 + "a": "nested too deep",
    "(" * 99 + "a": "nested too deep",
}


@pytest.mark.parametrize(("text", "expected"), WRONG.items())
def test_an_error_points_at_the_place(text: str, expected: str) -> None:
    with pytest.raises(ProblemError) as caught:
        parse(text, KEPT)
    problem = caught.value.problem
    assert problem.code is Code.BAD_ARGUMENT
    assert expected in problem.text
    assert problem.text.endswith(".")


def test_what_is_asked_for() -> None:
    wanted = parse("not (loader or set:a) line:x.py", KEPT)
    assert [name for name in QUALIFIERS if wanted.asks_for(name)] == ["line", "rank"]
    assert parse("Trainer 1", KEPT).asks_for("rank")
    assert wanted.where == ""
    assert parse("where x == ') where y' # done", {}).where == "x == ') where y' # done"


PIECES = [
    "a",
    "not",
    "and",
    "or",
    "where",
    "(",
    ")",
    '"',
    " ",
    ":",
    ",",
    "-",
    "*",
    "[",
    "rank:1",
    "set:a",
    "\0",
    "\u2028",
    "7",
]


@examples(500)
@given(st.one_of(st.text(max_size=30), st.lists(st.sampled_from(PIECES), max_size=20).map("".join)))
def test_whatever_comes_is_read_or_refused(text: str) -> None:
    try:
        wanted = parse(text, KEPT)
    except ProblemError as error:
        refused = error.problem.text
    else:
        refused = ""
        assert wanted.where in text
    assert refused == "" or refused.endswith(".")


def test_kept_sets_that_name_each_other_twice_make_no_endless_set() -> None:
    kept = {"s0": "actor:x"} | {f"s{number}": f"set:s{number - 1} or set:s{number - 1}" for number in range(1, 40)}
    assert parse("set:s5", kept)
    with pytest.raises(ProblemError, match="more than 200 named sets"):
        parse("set:s39", kept)
