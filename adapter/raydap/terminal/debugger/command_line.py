"""What a user types: `[SET] COMMAND REST`, or plain Python."""

import re
from collections.abc import Collection
from typing import NamedTuple

from raydap.protocol.python_source import parse_module

_QUOTED = re.compile(r""""[^"]*"|'[^']*'|.""", re.DOTALL)
_PLAIN = re.compile(".", re.DOTALL)

_COMMAND = re.compile(r"\s*(?:(?P<name>[A-Za-z]+|\?)(?P<rest>\s.*|)|(?P<printing>pp?)(?P<value>\(.*))", re.DOTALL)
"""As in pdb, `p(x)` is the command `p`, whatever the program calls `p`."""

_SEPARATOR = re.compile(r""";;|\\.|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|.""", re.DOTALL)
"""The separator of commands, or a piece of a command: it may be in a string."""

_RANK = r"[0-9]+(?:-[0-9]+)?"
_SET_WORD = re.compile(
    rf"""(?P<ranks>{_RANK}(?:\s*,\s*{_RANK})*)(?=[\s()]|\Z)|(?:"[^"]*"|[^\s()"])+|.""",
    re.DOTALL,
)

_OPERATORS = re.compile(
    r"\s*(=|!=|[%&|^@]|(?:[-+*/<>]|//|\*\*|<<|>>)=|(?:<|>|<<|>>)\s|,|\.[A-Za-z_]|(?:if|in|is|and|or)\b|not\s+in\b)"
)
"""How a line goes on in which a word that is also a command is a name: `n = 3`, `c, d = 1, 2`, `n < 3`, `w in seen`.
`-` and `*` begin an expression, too, `<` the name of a file, and `not` a set."""

_NUMBER = re.compile("[0-9]{1,9}")

EVERYBODY = "state:stopped"
"""What `[all]` means: a command that moves or asks means those who have stopped."""


class CommandLine(NamedTuple):
    """`select` is a set, None if none is named. `name` is "" for Python, which is the `rest`."""

    select: str | None
    name: str
    rest: str


def separate(text: str) -> list[str]:
    """Return the commands of a line, which `;;` separates, as in pdb. An empty line is one command."""
    commands = [""]
    for found in _SEPARATOR.finditer(text):
        if found[0] == ";;":
            commands.append("")
        else:
            commands[-1] += found[0]
    return [command for command in commands if command.strip()] or [text]


def parse(text: str, names: Collection[str]) -> CommandLine:
    """`names` are those of all commands. A line that begins with `!` is Python, as in pdb."""
    select, rest = _split(text)
    if select is not None:
        inner = _command(rest, names)
        if inner.name or rest.startswith("!") or (rest and not _is_python(text)):
            return inner._replace(select=as_set(select))
    return _command(text, names)


def _split(text: str) -> tuple[str | None, str]:
    """The set in brackets with which it begins, None without one, and the rest. A set may have brackets of its own:
    `[actor:A[12] where x["]"] > 0]`."""
    text = text.strip()
    for pattern in (_QUOTED, _PLAIN) if text.startswith("[") else ():
        depth = 0
        for piece in pattern.finditer(text):
            depth += (piece[0] == "[") - (piece[0] == "]")
            if depth == 0:
                return text[1 : piece.start()], text[piece.end() :].strip()
    return None, text


def _is_python(text: str) -> bool:
    """Whether it is a list that something is done with: `[1, 2] + more`."""
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
    """A set in brackets (docs/usage/sets.md), where numbers are ranks and `all` is everybody who has stopped:
    `Rollout 0-3` is `Rollout rank:0-3`."""
    words = []
    for found in _SET_WORD.finditer(text):
        if found[0] == "where":
            words.append(text[found.start() :])
            break
        if found["ranks"]:
            words.append(f"rank:{''.join(found['ranks'].split())}")
        else:
            words.append(EVERYBODY if found[0] in ("all", "*") else found[0])
    return "".join(words).strip()


def workers_named(select: str | None, rest: str) -> str | None:
    """The set in brackets, or behind the command, None if none is named, of a command about workers: there `all` is
    also who runs."""
    wanted = select if select is not None else as_set(rest) or None
    return "*" if wanted == EVERYBODY else wanted


def number(text: str) -> int | None:
    """Of a line, of frames, or of a breakpoint; None if it is no number, or has more digits than any of these."""
    return int(text) if _NUMBER.fullmatch(text) else None
