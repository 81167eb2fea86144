"""The values of an expression in one worker, in no more points than a chart can show."""

import math
from collections.abc import Iterator

from raydap.report.records import Point

MAX_POINTS = 1000
"""When a series has this number of points, each pair of neighbours is merged into one point."""

MAX_TEXTS = 20
"""The number of values of a series that are not numbers and are kept."""


class TraceSeries:
    """The values of an expression in one worker."""

    def __init__(self) -> None:
        self.points: list[Point] = []
        self.texts: list[tuple[float, str]] = []
        """The last values that are not numbers, each with its time. A repeated value is kept once."""
        self.last: float | str | None = None
        """The last value: a number, or the text of any other value; None before the first one."""

    def add(self, point: Point, text: str) -> None:
        """Add the values of one interval. `text` is the last value if it is not a number; otherwise ""."""
        if text:
            if not self.texts or self.texts[-1][1] != text:
                self.texts = [*self.texts, (point.time, text)][-MAX_TEXTS:]
            self.last = text
            return
        self.points.append(point)
        self.last = point.last if point.last is not None else math.nan if point.nan else math.inf
        if len(self.points) >= MAX_POINTS:
            self.points = list(_halved(self.points))


def _halved(points: list[Point]) -> Iterator[Point]:
    for at in range(0, len(points), 2):
        pair = points[at : at + 2]
        yield Point(
            time=pair[-1].time,
            count=sum(each.count for each in pair),
            low=min((each.low for each in pair if each.low is not None), default=None),
            high=max((each.high for each in pair if each.high is not None), default=None),
            last=pair[-1].last,
            nan=sum(each.nan for each in pair),
            inf=sum(each.inf for each in pair),
        )
