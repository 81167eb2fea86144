"""The meaning of a line in the debugger: a command, its workers, or Python."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raydap.terminal.debugger.command_line import CommandLine, as_set, number, parse, separate
from raydap.terminal.debugger.command_table import BY_NAME, COMMANDS

COMMAND_LINES = {
    "n": ("n", ""),
    "  next\t": ("next", ""),
    "?": ("?", ""),
    "? until": ("?", "until"),
    "p x": ("p", "x"),
    "p -x": ("p", "-x"),
    "p *rest": ("p", "*rest"),
    "p (1)": ("p", "(1)"),
    "p [1][0]": ("p", "[1][0]"),
    "p not done": ("p", "not done"),
    "p inner": ("p", "inner"),
    "p x in seen": ("p", "x in seen"),
    "list 40, 60": ("list", "40, 60"),
    "l .": ("l", "."),
    "b /app/train.py:42, x > 1": ("b", "/app/train.py:42, x > 1"),
    "b <string>:3": ("b", "<string>:3"),
    "workers not rank:0": ("workers", "not rank:0"),
    "focus not (0 or 1)": ("focus", "not (0 or 1)"),
    "pp {\n1: 2}": ("pp", "{\n1: 2}"),
    "p(x)": ("p", "(x)"),
    "pp(x, y)": ("pp", "(x, y)"),
}

PYTHON = [
    "x = 1",
    "n = 3",
    "n == 3",
    "n != 3",
    "n < 3",
    "n >= 3",
    "n <<= 1",
    "n << 1",
    "n % 2",
    "a @ b",
    "c, d = 1, 2",
    "s.append(1)",
    "s .append(1)",
    "n += 1",
    "p //= 2",
    "p **= 2",
    "w in seen",
    "w not in seen",
    "w is None",
    "a if b else c",
    "a and b",
    "where(x)",
    "list(x)",
    "l[0]",
    "n: int = 3",
    "nex",
    "N",
    "step1",
    "for x in y:\n    print(x)",
    "[x for x in y]",
    "[1, 2] + more",
    "[1][0]",
    "[",
    "[all",
    "]",
    "[[1] p x",
    "",
    "  ",
]


@pytest.mark.parametrize(("text", "expected"), COMMAND_LINES.items())
def test_commands(text: str, expected: tuple[str, str]) -> None:
    assert parse(text, BY_NAME) == CommandLine(None, *expected)


@pytest.mark.parametrize("text", PYTHON)
def test_python_that_looks_like_a_command_or_a_set(text: str) -> None:
    assert parse(text, BY_NAME) == CommandLine(None, "", text.strip())


def test_a_mark_makes_it_python() -> None:
    assert parse("!n", BY_NAME) == CommandLine(None, "", "n")
    assert parse(" ! c = 1 ", BY_NAME) == CommandLine(None, "", "c = 1")
    assert parse("[all] !n", BY_NAME) == CommandLine("state:stopped", "", "n")


def test_every_name_is_a_command_of_its_own() -> None:
    assert len(BY_NAME) == sum(len(command.names) for command in COMMANDS)
    assert all(parse(name, BY_NAME).name == name for name in BY_NAME)


SETS = {
    "[actor:Trainer not rank:0] n": CommandLine("actor:Trainer not rank:0", "n", ""),
    "[0]p x": CommandLine("rank:0", "p", "x"),
    " [ Rollout 0-3 ]\tp x": CommandLine("Rollout 0-3", "p", "x"),
    "[all] x + 1": CommandLine("state:stopped", "", "x + 1"),
    "[all] for x in y:\n    print(x)": CommandLine("state:stopped", "", "for x in y:\n    print(x)"),
    "[] n": CommandLine("", "n", ""),
    # Sets with brackets, quotes and apostrophes.
    "[where x[0] > 1] p x": CommandLine("where x[0] > 1", "p", "x"),
    "[actor:A[12]] n": CommandLine("actor:A[12]", "n", ""),
    '["a ] name"] n': CommandLine('"a ] name"', "n", ""),
    "[where x == ']'] n": CommandLine("where x == ']'", "n", ""),
    "[it's] p 'x'": CommandLine("it's", "p", "'x'"),
}


@pytest.mark.parametrize(("text", "expected"), SETS.items())
def test_sets_in_brackets(text: str, expected: CommandLine) -> None:
    assert parse(text, BY_NAME) == expected


def test_no_warning_is_printed_about_what_is_typed() -> None:
    """Tests turn warnings into errors. With such an error, `[1]` would be read as a set."""
    assert parse("[1] (x)", BY_NAME) == CommandLine(None, "", "[1] (x)")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("all", "state:stopped"),
        ("*", "state:stopped"),
        ("3", "rank:3"),
        ("0,2-4", "rank:0,2-4"),
        ("0, 2", "rank:0,2"),
        ("not (0 or 4-7)", "not (rank:0 or rank:4-7)"),
        ("Rollout3 4x", "Rollout3 4x"),
        ('"all"  "a  3"', '"all"  "a  3"'),
        ("nowhere 3", "nowhere 3"),
        ("prepare 4711", "prepare 4711"),
        ("Rollout 0, 2 3", "Rollout 0,2 rank:3"),
        ("all 3 or (4)", "state:stopped rank:3 or (rank:4)"),
        ("actor:Rollout 3", "actor:Rollout rank:3"),
        ("actor:where where 3", "actor:where where 3"),
        ("all where x in (0, 1)", "state:stopped where x in (0, 1)"),
        ("where(x)", "where(x)"),
        ("1\N{ARABIC-INDIC DIGIT FIVE}", "1\N{ARABIC-INDIC DIGIT FIVE}"),
    ],
)
def test_numbers_are_ranks_up_to_where(text: str, expected: str) -> None:
    assert as_set(text) == expected


def test_numbers() -> None:
    assert number("042") == 42
    for text in ("", "-1", "4.0", "x", "1234567890", "9" * 5000, "\N{ARABIC-INDIC DIGIT FIVE}"):
        assert number(text) is None


@given(st.one_of(st.text(), st.lists(st.sampled_from([*COMMAND_LINES, *PYTHON, *SETS, "[", "]", '"'])).map("".join)))
def test_whatever_is_typed_keeps_its_end(text: str) -> None:
    line = parse(text, BY_NAME)
    assert line.name in ("", *BY_NAME)
    assert text.strip().endswith(line.rest)


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("n;;p x", ["n", "p x"]),
        ("n ;; ;; p(x);;", ["n ", " p(x)"]),
        ("", [""]),
        (";;", [";;"]),
        ("p ';;', \";;\" ;; n", ["p ';;', \";;\" ", " n"]),
        (r"p 'it\';;s' ;; n", [r"p 'it\';;s' ", " n"]),
        ("p it's ;; n", ["p it's ", " n"]),
        ("[rank:0 where x == ';;'] p x;;n", ["[rank:0 where x == ';;'] p x", "n"]),
    ],
)
def test_a_line_with_several_commands(text: str, commands: list[str]) -> None:
    assert separate(text) == commands
