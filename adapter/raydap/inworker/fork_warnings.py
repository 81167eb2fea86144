"""Python's warning of a fork in a process with several threads, without the agent's threads; runs in that process.

Since 3.12 Python counts all threads, also the agent's, and would name the line of raydap's function that calls os.fork
for the program.
"""

from __future__ import annotations

import os
import sys

from .light_start import AGENT_THREADS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

WARNS = sys.version_info >= (3, 12)
"""Whether this Python warns of such a fork."""

FORK_WARNING = "This process (pid={}) is multi-threaded, use of {}() may lead to deadlocks in the child."
"""The text of the warning (posixmodule.c, warn_about_fork_with_threads)."""


class _ForkWarnings:
    """A substitute for the regular expression of a filter."""

    def match(self, text: str) -> bool:
        return text.startswith("This process (pid=") and "is multi-threaded" in text


FORK_FILTER = ("ignore", _ForkWarnings(), DeprecationWarning, None, 0)
"""The filter, in the form that Python keeps in `warnings.filters`."""


def add_filter() -> list[Any]:
    """Suppress Python's warning of a fork; return the list with the filter, for `remove_filter`.

    The functions of `warnings` are not used. With them, Python would repeat warnings that the program has had already
    and that come only once.
    """
    if not WARNS:
        return []
    import _warnings

    filters: list[Any] = getattr(sys.modules.get("warnings"), "filters", None) or _warnings.filters
    filters.insert(0, FORK_FILTER)
    return filters


def remove_filter(filters: list[Any]) -> None:
    """Remove the filter that `add_filter` has added."""
    if FORK_FILTER in filters:
        filters.remove(FORK_FILTER)


def warn_of_fork(function: str) -> None:
    """Warn of a fork as Python does, if the program has threads of its own.

    The warning names the line where the program calls the Replacement (replaced_functions.py) of `function`.
    """
    if WARNS and _has_own_threads():
        import warnings

        try:  # noqa: SIM105  # contextlib may not be imported yet
            warnings.warn(FORK_WARNING.format(os.getpid(), function), DeprecationWarning, stacklevel=4)
        except Exception:
            pass  # Python ignores the exception of `-W error`, too.


def _has_own_threads() -> bool:
    """Return whether the program has another thread than this one.

    Without /proc, count only the threads that `threading` lists, as Python does.
    """
    threading: Any = sys.modules.get("threading")
    known = {} if threading is None else threading._active
    pydevds = {ident for ident, thread in known.items() if getattr(thread, "is_pydev_daemon_thread", False)}
    try:
        return len(os.listdir("/proc/self/task")) > 1 + len(AGENT_THREADS | pydevds)
    except OSError:
        return len(known) > 1
