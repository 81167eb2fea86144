"""How much work of the bridge a script causes: effects, and lines of Python."""

import gc
import sys
from collections import Counter
from collections.abc import Callable
from types import FrameType
from typing import Any

from raydap.core.effects import Effect
from support.playbook import Play


class Counted:
    """Watches a play's bridge from now on: its effects, and how many lines of Python it runs.

    A loop over all workers shows in the lines, since each round counts; only a loop inside C would not.
    """

    def __init__(self, play: Play) -> None:
        self.effects: Counter[str] = Counter()
        self.lines = 0
        self._handle: Callable[[Any], list[Effect]] = play.bridge.handle
        play.bridge.handle = self._watched  # type: ignore[method-assign]

    def _watched(self, event: Any) -> list[Effect]:
        before = sys.gettrace()
        gc.disable()  # Hypothesis has a callback of the collector, whose lines would count.
        sys.settrace(self._trace)
        try:
            effects = self._handle(event)
        finally:
            sys.settrace(before)
            gc.enable()
        self.effects.update(type(effect).__name__ for effect in effects)
        return effects

    def _trace(self, frame: FrameType, what: str, _: Any) -> Any:
        self.lines += what == "line"
        return self._trace
