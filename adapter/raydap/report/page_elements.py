"""HTML whose texts are escaped by construction: only what an element has made is taken as it is."""

import re
import time
from collections.abc import Iterable
from html import escape


class Html(str):
    """Text that is HTML already. Every other string becomes text in it."""

    __slots__ = ()


Child = str | None | Iterable["Child"]
"""A text, an element, nothing, or several of them."""

_COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
"""What programs send to colour a terminal."""

VOID = frozenset({"meta", "br", "hr", "col", "line", "rect", "circle", "polyline", "path"})
"""Elements that have no content here."""


def joined(*children: Child) -> Html:
    """Several as one."""
    return Html("".join(_html(each) for each in children))


def element(tag: str, *children: Child, **attributes: str | float | bool | None) -> Html:
    """An element. An attribute's `_` is a `-` in HTML, and one at its end is left out, as in `class_`. False and None
    leave an attribute out, and True gives it no value."""
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
    """A text comes from a worker, and may have characters that no page can have."""
    text = _COLOURS.sub("", text)
    return "".join(each if each.isprintable() or each in "\n\t" else "\N{REPLACEMENT CHARACTER}" for each in text)


def count(number: int, one: str, many: str = "") -> str:
    """`1 hit`, `12,034 hits`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def clock(value: float) -> str:
    """The time of day, on the clock of the machine that has written the page."""
    return time.strftime("%H:%M:%S", time.localtime(value))


def date(value: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S %z", time.localtime(value))
