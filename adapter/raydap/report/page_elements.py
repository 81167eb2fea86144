"""HTML elements whose texts are always escaped: only the result of `element` or `joined` is inserted unchanged."""

import re
import time
from collections.abc import Iterable
from html import escape


class Html(str):
    """A string that is HTML already, and is therefore not escaped again."""

    __slots__ = ()


Child = str | None | Iterable["Child"]
"""The content of an element: a text, an element, nothing, or several of them."""

_COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
"""The escape sequences that programs print to colour a terminal."""

VOID = frozenset({"meta", "br", "hr", "col", "line", "rect", "circle", "polyline", "path"})
"""Elements without content, at least in this page."""


def joined(*children: Child) -> Html:
    """Return several texts and elements as one, without an element around them."""
    return Html("".join(_html(each) for each in children))


def element(tag: str, *children: Child, **attributes: str | float | bool | None) -> Html:
    """Return an element with these children and attributes.

    In the name of an attribute, `_` becomes `-`, and a `_` at its end is dropped, as in `class_`. An attribute that is
    False or None is left out, and one that is True has no value.
    """
    given = "".join(_attribute(name, value) for name, value in attributes.items())
    if tag in VOID:
        return Html(f"<{tag}{given}/>")
    return Html(f"<{tag}{given}>{joined(*children)}</{tag}>")


def _html(child: Child) -> str:
    if child is None:
        return ""
    if isinstance(child, Html):
        return child
    if isinstance(child, str):
        return escape(printable(child))
    return "".join(map(_html, child))


def _attribute(name: str, value: str | float | bool | None) -> str:
    name = name.rstrip("_").replace("_", "-")
    if value is None or value is False:
        return ""
    if value is True:
        return f" {name}"
    text = f"{value:.5g}" if isinstance(value, float) else str(value)
    return f' {name}="{escape(printable(text))}"'


def printable(text: str) -> str:
    """Return a text without colours, and with a replacement for each character that cannot be printed.

    Texts come from workers, and may contain characters that HTML does not allow.
    """
    text = _COLOURS.sub("", text)
    return "".join(each if each.isprintable() or each in "\n\t" else "\N{REPLACEMENT CHARACTER}" for each in text)


def count(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun, such as `1 hit` or `12,034 hits`. The plural is `many`, or `one` with an "s"."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def clock(value: float) -> str:
    """Return a time of day, in the time zone of the machine that writes the page."""
    return time.strftime("%H:%M:%S", time.localtime(value))


def date(value: float) -> str:
    """Return a date and time with its time zone."""
    return time.strftime("%Y-%m-%d %H:%M:%S %z", time.localtime(value))
