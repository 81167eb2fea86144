"""Python's warning of a fork in a process with several threads, without the agent's; runs in a process with an agent.

Since 3.12 Python counts all threads, the agent's too, and would blame the function that calls os.fork for the program.
"""

from __future__ import annotations

import os
import sys

from .light_start import AGENT_THREADS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

WARNS = sys.version_info >= (3, 12)

FORK_WARNING = "This process (pid={}) is multi-threaded, use of {}() may lead to deadlocks in the child."
"""The text of the warning (posixmodule.c, warn_about_fork_with_threads)."""


class _ForkWarnings:
    """Stands for the regular expression of a filter."""

    def match(self, text: str) -> bool:
        return text.startswith("This process (pid=") and "is multi-threaded" in text


FORK_FILTER = ("ignore", _ForkWarnings(), DeprecationWarning, None, 0)


def add_filter() -> list[Any]:
    """Let Python not warn of a fork. Return the list with the filter, for `remove_filter`.

    The filter is not added by a function of `warnings`: those let warnings come again that the program has had once.
    """
    if not WARNS:
        return []
    import _warnings

    filters: list[Any] = getattr(sys.modules.get("warnings"), "filters", None) or _warnings.filters
    filters.insert(0, FORK_FILTER)
    return filters


def remove_filter(filters: list[Any]) -> None:
    if FORK_FILTER in filters:
        filters.remove(FORK_FILTER)


def warn_of_fork(function: str) -> None:
    """Warn the program, which calls the Replacement of a function that calls this, as Python does: if it has threads of
    its own."""
    if WARNS and _has_own_threads():
        import warnings

        try:  # noqa: SIM105  # contextlib may not be imported yet
            warnings.warn(FORK_WARNING.format(os.getpid(), function), DeprecationWarning, stacklevel=4)
        except Exception:
            pass  # With `-W error` Python ignores it, too.


def _has_own_threads() -> bool:
    """Return whether the program has another thread than this one. Without /proc Python counts those of `threading`."""
    threading: Any = sys.modules.get("threading")
    known = {} if threading is None else threading._active
    pydevds = {ident for ident, thread in known.items() if getattr(thread, "is_pydev_daemon_thread", False)}
    try:
        return len(os.listdir("/proc/self/task")) > 1 + len(AGENT_THREADS | pydevds)
    except OSError:
        return len(known) > 1
