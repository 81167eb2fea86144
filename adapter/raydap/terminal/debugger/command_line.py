"""The lines that a user types: `[SET] COMMAND REST`, or plain Python."""

import re
from collections.abc import Collection
from typing import NamedTuple

from raydap.protocol.python_source import parse_module

_QUOTED = re.compile(r""""[^"]*"|'[^']*'|.""", re.DOTALL)
_PLAIN = re.compile(".", re.DOTALL)

_COMMAND = re.compile(r"\s*(?:(?P<name>[A-Za-z]+|\?)(?P<rest>\s.*|)|(?P<printing>pp?)(?P<value>\(.*))", re.DOTALL)
"""As in pdb, `p(x)` is the command `p`, even if the program has a function `p`."""

_SEPARATOR = re.compile(r""";;|\\.|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|.""", re.DOTALL)
"""The separator of commands, or a piece of a command. A string is one piece, because it can contain a `;;`."""

_RANK = r"[0-9]+(?:-[0-9]+)?"
_SET_WORD = re.compile(
    rf"""(?P<ranks>{_RANK}(?:\s*,\s*{_RANK})*)(?=[\s()]|\Z)|(?:"[^"]*"|[^\s()"])+|.""",
    re.DOTALL,
)

_OPERATORS = re.compile(
    r"\s*(=|!=|[%&|^@]|(?:[-+*/<>]|//|\*\*|<<|>>)=|(?:<|>|<<|>>)\s|,|\.[A-Za-z_]|(?:if|in|is|and|or)\b|not\s+in\b)"
)
"""How a line continues if its first word is not a command but a name of the program.

Examples are `n = 3`, `c, d = 1, 2`, `n < 3` and `w in seen`. Anything with which the argument of a command can begin is
left out: a `-` or `*` can begin an expression, a `<` without a space the name of a file, and `not` a set.
"""

_NUMBER = re.compile("[0-9]{1,9}")

ALL_STOPPED = "state:stopped"
"""The set that `[all]` means, except in commands about workers (`workers_named`)."""


class CommandLine(NamedTuple):
    """A command with its set and its arguments, or Python code."""

    select: str | None
    """The set in brackets; None if there are no brackets."""
    name: str
    """The name of the command; "" for Python code."""
    rest: str
    """The text after the name; for Python code, the code."""


def separate(text: str) -> list[str]:
    """Return the commands of a line, separated by `;;` as in pdb. An empty line is one command."""
    commands = [""]
    for found in _SEPARATOR.finditer(text):
        if found[0] == ";;":
            commands.append("")
        else:
            commands[-1] += found[0]
    return [command for command in commands if command.strip()] or [text]


def parse(text: str, names: Collection[str]) -> CommandLine:
    """Return the parts of a line. A line that begins with `!` is Python, as in pdb.

    `names` contains the names of all commands.
    """
    select, rest = _split(text)
    if select is not None:
        inner = _command(rest, names)
        if inner.name or rest.startswith("!") or (rest and not _is_python(text)):
            return inner._replace(select=as_set(select))
    return _command(text, names)


def _split(text: str) -> tuple[str | None, str]:
    """Return the set in brackets at the beginning of a line, None if there is none, and the rest of the line.

    The set can contain brackets, too: `[actor:A[12] where x["]"] > 0]`.
    """
    text = text.strip()
    for pattern in (_QUOTED, _PLAIN) if text.startswith("[") else ():
        depth = 0
        for piece in pattern.finditer(text):
            depth += (piece[0] == "[") - (piece[0] == "]")
            if depth == 0:
                return text[1 : piece.start()], text[piece.end() :].strip()
    return None, text


def _is_python(text: str) -> bool:
    """Return whether a line that begins with a bracket is Python: `[1, 2] + more`."""
    try:
        parse_module(text.strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _command(text: str, names: Collection[str]) -> CommandLine:
    stripped = text.strip()
    if stripped.startswith("!"):
        return CommandLine(None, "", stripped[1:].strip())
    found = _COMMAND.fullmatch(stripped)
    name, rest = (found["name"] or found["printing"], found["rest"] or found["value"] or "") if found else ("", "")
    if name not in names or _OPERATORS.match(rest):
        return CommandLine(None, "", stripped)
    return CommandLine(None, name, rest.strip())


def as_set(text: str) -> str:
    """Return the set (docs/usage/sets.md) that the text in brackets means.

    Numbers are ranks, except after a name: `Rollout 0-3` and `prepare 4711` are names of workers. `all` and `*` mean
    ALL_STOPPED.
    """
    words: list[str] = []
    last = ""
    for found in _SET_WORD.finditer(text):
        word = found[0]
        if word == "where":
            words.append(text[found.start() :])
            break
        if found["ranks"]:
            numbers = "".join(word.split())
            words.append(numbers if _is_name(last) else f"rank:{numbers}")
        else:
            words.append(ALL_STOPPED if word in ("all", "*") else word)
        last = last if word.isspace() else word
    return "".join(words).strip()


def _is_name(word: str) -> bool:
    """Return whether a word of a set is the name of a class or task, which a number can follow."""
    return word not in ("", "(", ")", "and", "or", "not", "all", "*") and ":" not in word and not word[0].isdigit()


def workers_named(select: str | None, rest: str) -> str | None:
    """Return the set that a command about workers names; None if it names none.

    The set is `select`, in brackets before the command, or `rest`, after the command. `all` includes running workers.
    """
    wanted = select if select is not None else as_set(rest) or None
    return "*" if wanted == ALL_STOPPED else wanted


def number(text: str) -> int | None:
    """Return the number of a line, of frames or of a breakpoint; None if the text is not a number of 1 to 9 digits."""
    return int(text) if _NUMBER.fullmatch(text) else None
