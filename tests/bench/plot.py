"""Curves over logarithmic axes, as SVG."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_WIDTH, _HEIGHT, _MARGIN = 640, 400, 60
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")


@dataclass(frozen=True)
class Curve:
    """A curve. Its points are positive and ordered by x."""

    name: str
    points: Sequence[tuple[float, float]]


def curves(title: str, across: str, lines: Sequence[Curve]) -> str:
    """Return a picture of all curves over the same decades. `across` names the horizontal axis."""
    horizontal = _Axis([x for line in lines for x, _ in line.points], _MARGIN, _WIDTH - _MARGIN)
    vertical = _Axis([y for line in lines for _, y in line.points], _HEIGHT - _MARGIN, _MARGIN)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif" '
        'font-size="12">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
        _text(_WIDTH / 2, 24, title, anchor="middle"),
        _text(_WIDTH / 2, _HEIGHT - 16, across, anchor="middle"),
    ]
    for value in horizontal.decades():
        x = horizontal.place(value)
        parts.append(f'<path d="M{x:.1f} {_MARGIN}V{_HEIGHT - _MARGIN}" stroke="#ddd"/>')
        parts.append(_text(x, _HEIGHT - _MARGIN + 16, f"{value:,g}", anchor="middle"))
    for value in vertical.decades():
        y = vertical.place(value)
        parts.append(f'<path d="M{_MARGIN} {y:.1f}H{_WIDTH - _MARGIN}" stroke="#ddd"/>')
        parts.append(_text(_MARGIN - 6, y + 4, f"{value:g}", anchor="end"))
    for place, (line, colour) in enumerate(zip(lines, _COLOURS, strict=False)):
        points = " ".join(f"{horizontal.place(x):.1f},{vertical.place(y):.1f}" for x, y in line.points)
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts.append(_text(_MARGIN + 10, _MARGIN + 16 * (place + 1), line.name, colour=colour))
    return "\n".join([*parts, "</svg>", ""])


class _Axis:
    """An axis with whole decades around all values, between two positions in pixels."""

    def __init__(self, values: Sequence[float], first: float, last: float) -> None:
        self._low = math.floor(math.log10(min(values)))
        self._high = max(math.ceil(math.log10(max(values))), self._low + 1)
        self._first, self._last = first, last

    def place(self, value: float) -> float:
        share = (math.log10(value) - self._low) / (self._high - self._low)
        return self._first + share * (self._last - self._first)

    def decades(self) -> list[float]:
        return [10.0**power for power in range(self._low, self._high + 1)]


def _text(x: float, y: float, text: str, anchor: str = "start", colour: str = "#222") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{escape(text)}</text>'
