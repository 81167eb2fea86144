"""The expressions of `--watch`: the workers, lines and steps at which each has changed or become true."""

import json
from collections.abc import Iterable, Mapping
from linecache import getline
from typing import Any

from raydap.report.known_workers import KnownWorkers
from raydap.report.records import WatchHit, WatchRecord
from raydap.report.watch_arguments import WatchedLine

MAX_HITS = 3
"""The number of hits in a worker at which it stops. Later ones cost the program no stop."""


class SeenExpression:
    """A watched expression and its hits."""

    def __init__(self, watched: WatchedLine) -> None:
        self.watched = watched
        self.verified = False
        """Whether a worker watches the expression."""
        self.message = ""
        """The last message of raydap about the watchpoint."""
        self.hits: list[tuple[str, WatchHit]] = []
        """The hits in the order of time, each with the key of its worker."""

    def record(self, workers: KnownWorkers) -> WatchRecord:
        """Return the record of the expression."""
        hits = [WatchHit(**{**_fields(hit), "label": workers.label(key)}) for key, hit in self.hits]
        return WatchRecord(
            path=self.watched.file,
            line=self.watched.line,
            source=getline(self.watched.file, self.watched.line).strip(),
            expression=self.watched.expression or "",
            verified=self.verified,
            message=self.message,
            hits=tuple(hits),
        )


def _fields(hit: WatchHit) -> dict[str, Any]:
    return {name: getattr(hit, name) for name in WatchHit.__struct_fields__}


class WatchedExpressions:
    """All expressions that are watched in a run."""

    def __init__(self, watches: Iterable[WatchedLine]) -> None:
        self.seen = [SeenExpression(each) for each in watches]
        """In the user's order."""
        self._ids: dict[int, SeenExpression] = {}

    def breakpoints(self) -> list[dict[str, Any]]:
        """Return the data breakpoints (spec: DataBreakpoint), with raydap's own `dataId`."""
        places = [[each.watched.expression, each.watched.file, each.watched.line, ""] for each in self.seen]
        return [{"dataId": json.dumps(each), "hitCondition": f"<= {MAX_HITS}"} for each in places]

    def take_answers(self, answers: Iterable[Mapping[str, Any]]) -> None:
        """Take the answer to `setDataBreakpoints`."""
        for seen, answer in zip(self.seen, answers, strict=False):
            self._ids[answer["id"]] = seen
            self.take_breakpoint(answer)

    def take_breakpoint(self, breakpoint: Mapping[str, Any]) -> None:
        """Take the new state of a breakpoint (spec: Breakpoint), if it is one of these."""
        seen = self._ids.get(breakpoint.get("id", 0))
        if seen is not None:
            seen.verified = breakpoint.get("verified") is True or seen.verified
            seen.message = str(breakpoint.get("message") or "")

    def take_stop(self, worker: str, time: float, stopped: Mapping[str, Any]) -> SeenExpression | None:
        """Take a stop of a worker; return the expression that has led to it, None if none has."""
        for number in stopped.get("hitBreakpointIds") or ():
            seen = self._ids.get(number)
            if seen is not None:
                about = stopped.get("raydap") or {}
                line = about.get("line", 0)
                source = getline(seen.watched.file, line).strip() if line else ""
                values = {name: str(about.get(name, "")) for name in ("before", "after", "step")}
                text = str(stopped.get("text") or "")
                hit = WatchHit(time=time, worker=worker, label="", line=line, source=source, text=text, **values)
                seen.hits.append((worker, hit))
                return seen
        return None
