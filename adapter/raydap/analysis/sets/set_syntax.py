"""The language of sets: parses what a user types into a tree (docs/usage/sets.md).

set        = [choice] ["where" python-expression]
choice     = all {"or" all}
all        = part {["and"] part}
part       = "not" part | "(" choice ")" | qualifier ":" values | word "{" numbers "}" | word numbers | word
values     = value {"," value}
numbers    = number ["-" number] {"," numbers}
"""

import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple, NoReturn, TypeAlias, get_args

from raydap.errors import Code, Problem, ProblemError
from raydap.presentation.short_text import shortened
from raydap.protocol.python_source import parse_expression
from raydap.protocol.raydap_messages import WorkerState

STATES: tuple[str, ...] = get_args(WorkerState)
"""The states that `state:` accepts."""

QUALIFIERS = {
    "actor": "the class or the name of an actor",
    "task": "the function or method that the worker runs",
    "node": "the address or the id of the worker's node",
    "state": f"one of {', '.join(STATES)}",
    "line": "the place of a stopped thread: file, file:line or file:from-to",
    "rank": "the worker's own rank (RANK, torch.distributed), else its number among the actors of its class, from 0",
    "pid": "the worker's process id",
    "job": "the id or the submission id of the job",
    "error": "the type of the exception at which a thread is stopped",
    "set": "the named set",
}
"""The qualifiers, with texts for users about what they match."""

FIXED_VALUES: Mapping[str, tuple[str, ...]] = {"state": STATES}
"""The values of the qualifiers that accept no others."""

_NUMBERS = ("rank", "pid")
_MAX_DEPTH = 50

MAX_USED = 200
"""The number of kept sets that one set may contain. If each of 20 kept sets named the one before it twice, the last
would have a million parts."""


@dataclass(frozen=True, slots=True)
class Word:
    """Matches a part of the worker's name, or the whole name if it has wildcards."""

    text: str
    """The text as the user typed it, without quotes."""


@dataclass(frozen=True, slots=True)
class Quality:
    """Matches a worker or thread by a text, such as its node or its state."""

    qualifier: str
    """A key of QUALIFIERS other than `set`, `rank` and `pid`."""
    patterns: tuple[str, ...]
    """The values after the colon; one that matches is enough."""


@dataclass(frozen=True, slots=True)
class NumberRanges:
    """Matches a worker whose number is in one of the ranges."""

    qualifier: str
    """The number that is compared: `rank` or `pid`."""
    ranges: tuple[tuple[int, int], ...]
    """The first and the last number of each range."""


@dataclass(frozen=True, slots=True)
class Numbered:
    """Matches the actors of a class by their ranks, or the workers of a task by their process ids."""

    kind: str
    """The class or the task, as the user typed it, without quotes."""
    ranges: tuple[tuple[int, int], ...]
    """The first and the last number of each range."""


@dataclass(frozen=True, slots=True)
class Not:
    """Matches what `part` does not match."""

    part: "Tree"
    """The part of the set after `not`."""


@dataclass(frozen=True, slots=True)
class AllOf:
    """Matches what all parts match."""

    parts: "tuple[Tree, ...]"
    """The parts to combine; without parts, everything matches."""


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Matches what any of the parts matches."""

    parts: "tuple[Tree, ...]"
    """The parts around `or`, or the named sets of a `set:`; at least one."""


Tree: TypeAlias = Word | Quality | NumberRanges | Numbered | Not | AllOf | AnyOf


class WorkerSet(NamedTuple):
    """A parsed set."""

    tree: Tree
    """The part before `where`; an empty one matches everything."""
    where: str
    """A Python expression that has to be true in the user's top frame; "" if there is none."""

    def asks_for(self, qualifier: str) -> bool:
        """Return whether the set uses this qualifier, so that the values for it have to be found out."""
        return any(one == qualifier for one in _qualifiers(self.tree))


def parse(text: str, kept: Mapping[str, str]) -> WorkerSet:
    """Parse a set; `kept` contains the texts of the kept sets, by their names.

    Raises ProblemError, whose message points at the mistake.
    """
    return _Parser(text, kept, (), count(1)).set()


class _Token(NamedTuple):
    """One token of a set."""

    text: str
    """The token as typed."""
    plain: str
    """A word or value without its quotes."""
    begin: int
    """The index of its first character."""


_TOKEN = re.compile(r'\s*(?:([()])|((?:"[^"]*"|[^\s()"])+)|(.))', re.DOTALL)
_NUMBERS_ONLY = re.compile(r"\d+(?:-\d+)?(?:,\d+(?:-\d+)?)*", re.ASCII)
_BRACES = re.compile(r"([^{}]+)\{([\d,-]+)\}", re.ASCII)
_SPECIAL = ("(", ")", "and", "or", "not", "where")


class _Parser:
    """A recursive-descent parser of one set.

    `inside` are the names of the kept sets that contain this set. `used` counts the kept sets in the whole set.
    """

    def __init__(self, text: str, kept: Mapping[str, str], inside: tuple[str, ...], used: Iterator[int]) -> None:
        self._used = used
        self._text = text
        self._kept = kept
        self._inside = inside
        self._tokens = list(self._read())
        self._next = 0

    def set(self) -> WorkerSet:
        token = self._peek()
        tree: Tree = AllOf(()) if token is None or token.text == "where" else self._choice(0)
        token = self._peek()
        if token is None:
            return WorkerSet(tree, "")
        if token.text != "where":
            self._fail(token, "unmatched )")
        return WorkerSet(tree, self._expression(token))

    def _expression(self, token: _Token) -> str:
        begin = token.begin + len("where")
        expression = self._text[begin:].strip()
        place = _Token(expression, expression, begin)
        if not expression:
            self._fail(token, "a Python expression must follow")
        if self._inside:
            self._fail(token, "a set inside of another set cannot have where")
        try:
            parse_expression(expression)
        except SyntaxError as error:
            self._fail(place, f"this is not a Python expression ({error.msg})")
        except (ValueError, RecursionError, MemoryError):
            self._fail(place, "this is not a Python expression")
        return expression

    def _choice(self, depth: int) -> Tree:
        parts = [self._all(depth)]
        while self._take("or"):
            parts.append(self._all(depth))
        return parts[0] if len(parts) == 1 else AnyOf(tuple(parts))

    def _all(self, depth: int) -> Tree:
        parts = [self._part(depth)]
        while (token := self._peek()) is not None and token.text not in (")", "or", "where"):
            self._take("and")
            parts.append(self._part(depth))
        return parts[0] if len(parts) == 1 else AllOf(tuple(parts))

    def _part(self, depth: int) -> Tree:
        token = self._peek()
        if token is None or token.text in (")", "and", "or", "where"):
            what = "the end" if token is None else token.text
            self._fail(token or _Token("", "", len(self._text)), f"a word is missing before {what}")
        self._next += 1
        if depth > _MAX_DEPTH:
            self._fail(token, "it is nested too deeply")
        if token.text == "not":
            return Not(self._part(depth + 1))
        if token.text == "(":
            found = self._choice(depth + 1)
            if not self._take(")"):
                self._fail(token, "this ( is not closed")
            return found
        qualifier, colon, _ = token.text.partition(":")
        if not colon or '"' in qualifier:
            return self._word(token)
        return self._qualified(token, qualifier)

    def _word(self, token: _Token) -> Tree:
        """Return the tree of a name: `Trainer`, or with numbers `Trainer{0-5,7}` or `Trainer 2`."""
        found = _BRACES.fullmatch(token.plain)
        if found is not None:
            return Numbered(found[1], self._ranges(token, found[2]))
        numbers = self._peek()
        if numbers is not None and _NUMBERS_ONLY.fullmatch(numbers.text):
            self._next += 1
            return Numbered(token.plain, self._ranges(numbers, numbers.text))
        return Word(token.plain)

    def _ranges(self, token: _Token, text: str) -> tuple[tuple[int, int], ...]:
        return tuple(self._range(token, value) for value in text.split(","))

    def _qualified(self, token: _Token, qualifier: str) -> Tree:
        if qualifier not in QUALIFIERS:
            near = difflib.get_close_matches(qualifier, QUALIFIERS, 1)
            hint = f"did you mean {near[0]}" if near else f"known: {', '.join(QUALIFIERS)}"
            self._fail(token, f"unknown qualifier {qualifier} ({hint}); put a name with a colon in quotes")
        values = tuple(value for value in token.plain.removeprefix(f"{qualifier}:").split(",") if value)
        if not values:
            self._fail(token, f"a value must follow {qualifier}:")
        if qualifier in _NUMBERS:
            return NumberRanges(qualifier, tuple(self._range(token, value) for value in values))
        if qualifier == "set":
            return AnyOf(tuple(self._kept_set(token, name) for name in values))
        if fixed := FIXED_VALUES.get(qualifier):
            for value in values:
                if value not in fixed:
                    self._fail(token, f"unknown {qualifier} {value} (known: {', '.join(fixed)})")
        return Quality(qualifier, values)

    def _range(self, token: _Token, value: str) -> tuple[int, int]:
        found = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", value, re.ASCII)
        if found is None:
            self._fail(token, f"{value} is neither a number nor a range such as 4-7")
        first, last = int(found[1]), int(found[2] or found[1])
        if last < first:
            self._fail(token, f"the range {value} is empty")
        return first, last

    def _kept_set(self, token: _Token, name: str) -> Tree:
        text = self._kept.get(name)
        if text is None:
            known = f"known: {', '.join(self._kept)}" if self._kept else "there are no named sets"
            self._fail(token, f"unknown set {name} ({known})")
        if name in self._inside:
            self._fail(token, f"the set {name} contains itself")
        if next(self._used) > MAX_USED:
            self._fail(token, f"it has more than {MAX_USED} named sets in it, nested ones included")
        return _Parser(text, self._kept, (*self._inside, name), self._used).set().tree

    def _peek(self) -> _Token | None:
        return self._tokens[self._next] if self._next < len(self._tokens) else None

    def _take(self, text: str) -> bool:
        token = self._peek()
        taken = token is not None and token.text == text
        self._next += taken
        return taken

    def _read(self) -> Iterator[_Token]:
        """Yield the tokens, up to and including `where`."""
        place, end = 0, len(self._text.rstrip())
        while place < end:
            found = _TOKEN.match(self._text, place)
            assert found is not None
            begin, place = found.start(found.lastindex or 0), found.end()
            if found[3]:
                self._fail(_Token(self._text[begin:], "", begin), "this quote is not closed")
            text = found[1] or found[2]
            yield _Token(text, text if found[1] else text.replace('"', ""), begin)
            if text == "where":
                return

    def _fail(self, token: _Token, why: str) -> NoReturn:
        name = f" {self._inside[-1]}" if self._inside else ""
        shown = shortened(token.text, 40)
        place = f'at "{shown}" (character {token.begin + 1})' if shown else "at its end"
        raise ProblemError(Problem(Code.BAD_ARGUMENT, f"The set{name} is wrong {place}: {why}."))


def _qualifiers(tree: Tree) -> Iterator[str]:
    if isinstance(tree, (Quality, NumberRanges)):
        yield tree.qualifier
    elif isinstance(tree, Numbered):
        yield "rank"
    elif isinstance(tree, Not):
        yield from _qualifiers(tree.part)
    elif isinstance(tree, (AllOf, AnyOf)):
        for part in tree.parts:
            yield from _qualifiers(part)
