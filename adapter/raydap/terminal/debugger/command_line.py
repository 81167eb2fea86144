"""What a user types: `[SET] COMMAND REST`, or plain Python."""

import re
from collections.abc import Collection
from typing import NamedTuple

_SET = re.compile(r"\s*\[(?P<set>[^\]]*)\]\s*(?P<rest>.*)", re.DOTALL)

_COMMAND = re.compile(r"\s*(?P<name>[A-Za-z]+|\?)(?P<rest>\s.*|)", re.DOTALL)

_RANKS = re.compile(r"\d+(-\d+)?(,\d+(-\d+)?)*")

_OPERATORS = re.compile(r"\s*(=|(?:[-+*/%&|^@]|//|\*\*|<<|>>)=|,|\.[A-Za-z_]|(?:if|in|is|and|or|not)\b)")
"""How a line goes on in which a word that is also a command is a name: `n = 3`, `c, d = 1, 2`, `w in seen`."""

EVERYBODY = "state:stopped"
"""What `[all]` means: a command that moves or asks means those who have stopped."""


class CommandLine(NamedTuple):
    """`select` is a set, None if none is named. `name` is "" for Python, which is the `rest`."""

    select: str | None
    name: str
    rest: str


def parse(text: str, names: Collection[str]) -> CommandLine:
    """`names` are those of all commands. A line that begins with `!` is Python, as in pdb."""
    found = _SET.fullmatch(text)
    if found is not None:
        inner = _command(found["rest"], names)
        if inner.name or found["rest"].startswith("!") or (found["rest"] and not _is_python(text)):
            return inner._replace(select=as_set(found["set"]))
    return _command(text, names)


def _is_python(text: str) -> bool:
    """Whether it is a list that something is done with: `[1, 2] + more`."""
    try:
        compile(text.strip(), "<string>", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _command(text: str, names: Collection[str]) -> CommandLine:
    stripped = text.strip()
    if stripped.startswith("!"):
        return CommandLine(None, "", stripped[1:].strip())
    found = _COMMAND.fullmatch(stripped)
    if found is None or found["name"] not in names or _OPERATORS.match(found["rest"]):
        return CommandLine(None, "", stripped)
    return CommandLine(None, found["name"], found["rest"].strip())


def as_set(text: str) -> str:
    """A set in brackets (docs/usage/sets.md), where numbers are ranks and `all` is everybody who has stopped:
    `Rollout 0-3` is `Rollout rank:0-3`."""
    before, where, after = text.partition("where ")
    words = [f"rank:{word}" if _RANKS.fullmatch(word) else word for word in before.split()]
    words = [EVERYBODY if word in ("all", "*") else word for word in words]
    return " ".join([*words, *([f"where {after.strip()}"] if where else [])])
