"""The work that a script causes in the bridge: effects, and executed lines of Python."""

import gc
import sys
from collections import Counter
from collections.abc import Callable
from types import FrameType
from typing import Any

from raydap.core.effects import Effect
from support.playbook import Play


class Counted:
    """A counter of a play's effects, and of the lines of Python that its bridge executes.

    A loop over all workers increases the number of lines with each iteration. Only a loop inside C would not be seen.
    """

    def __init__(self, play: Play) -> None:
        self.effects: Counter[str] = Counter()
        self.lines = 0
        self._handle: Callable[[Any], list[Effect]] = play.bridge.handle
        play.bridge.handle = self._watched  # type: ignore[method-assign]

    def _watched(self, event: Any) -> list[Effect]:
        before = sys.gettrace()
        gc.disable()  # The lines of Hypothesis's gc callback would be counted.
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
