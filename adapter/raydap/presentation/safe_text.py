"""Text from workers, dashboards and other users, made safe to show.

The text must not move the cursor of a terminal, type for the user, reorder the characters that are shown, or look like
a line of raydap's own.
"""

import re

_BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
"""The controls of the bidirectional algorithm (UAX 9), which change the order in which characters are shown."""

_HIDDEN = "\ufff9-\ufffb\U000e0000-\U000e007f"
"""Interlinear annotations and tags, which no terminal shows."""

_UNSAFE = re.compile(rf"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029{_BIDI}{_HIDDEN}]")

_NOT_JSON_SAFE = re.compile(rf"[\x7f-\x9f\u2028\u2029{_BIDI}{_HIDDEN}]")

_LONE_JOINERS = re.compile(
    "(?<![\ufe0f\U0001f000-\U0001ffff])\N{ZERO WIDTH JOINER}"
    "|\N{ZERO WIDTH JOINER}(?![\u2190-\u2bff\U0001f000-\U0001ffff])"
)
"""Joiners that are not between two emoji.

rich counts no column for the character after a joiner, but terminals draw that character beside the previous one.
"""

_LINE_BREAKS = re.compile("\r\n|[\n\x0b\x0c\r\x1c-\x1e\x85\u2028\u2029]")

LINE_BREAK = "\N{DOWNWARDS ARROW WITH CORNER LEFTWARDS}"
"""Replaces a line break in text that must stay on one line."""

_COLOUR_OR_RETURN = re.compile(r"(\x1b\[[\d;:]{0,60}m|\r)")
"""Programs print these to colour text, and to redraw a progress bar."""

_SEQUENCES = re.compile(r"\x1b\[[\d;:?]{0,60}[A-Za-z]")


def visible(text: str) -> str:
    """Return text of any number of lines, with a replacement character for each character that is not safe to print."""
    return _LONE_JOINERS.sub("", _UNSAFE.sub("\N{REPLACEMENT CHARACTER}", text))


def one_line(text: str) -> str:
    """Return `visible` text on one line, for names and the like: text after a line break could pass for another row."""
    return visible(_LINE_BREAKS.sub(LINE_BREAK, text).replace("\t", " "))


def without_colours(text: str) -> str:
    """Return the text without the escape sequences of a terminal, such as colours."""
    return _SEQUENCES.sub("", text)


def program_output(text: str) -> str:
    """Return the output of a worker as `visible` text that keeps its colours and carriage returns."""
    # split() returns the separators at the odd places, because the pattern has a group.
    parts = _COLOUR_OR_RETURN.split(text)
    return "".join(part if number % 2 else visible(part) for number, part in enumerate(parts))


def json_text(text: str) -> str:
    """Return JSON with the same value, in which the characters that are not safe to print are escaped."""
    return _NOT_JSON_SAFE.sub(lambda found: _escaped(ord(found[0])), text)


def _escaped(code: int) -> str:
    if code <= 0xFFFF:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"
