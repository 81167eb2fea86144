"""The known differences between programs with raydap and without. docs/security.md has the same table."""

from dataclasses import dataclass
from fnmatch import fnmatch

ALWAYS = ("idle", "left", "attached")


@dataclass(frozen=True)
class Difference:
    """A known difference.

    `noticed` and `reason` are texts of the table for users. `tests` are patterns for the names of tests, and of the
    programs in tests/inworker/foreign_programs.
    """

    noticed: str
    reason: str
    tests: tuple[str, ...]
    modes: tuple[str, ...]

    @property
    def row(self) -> str:
        when = "always" if self.modes == ALWAYS else "during a session"
        return f"| {self.noticed} | {when} | {self.reason} |"


DIFFERENCES = (
    Difference(
        "The socket of the agent is a descriptor, with a number from 960 on (from 192 on if the limit is below 1024).",
        "A socket is a descriptor of its process.",
        ("test.test_subprocess.POSIXProcessTestCase.test_pass_fds_redirected",),
        ALWAYS,
    ),
    Difference(
        "`sys._current_frames()`, `_thread._count()` and `/proc/self/task` have the agent's thread; also in forked "
        "children.",
        "The agent is Python code in a thread.",
        ("test.test_threading.ThreadJoinOnShutdown.test_clear_threads_states_after_fork",),
        ALWAYS,
    ),
    Difference(
        "An error in a thread of `_thread.start_new_thread` names an object of pydevd in place of the function.",
        "pydevd wraps the function to trace the new thread.",
        ("test.test_thread.ThreadRunningTests.test_unraisable_exception",),
        ("attached",),
    ),
    Difference(
        "The variables of a `_threading_local.local` outlive their thread for a moment.",
        "pydevd keeps the `Thread` object of a thread that has ended until it looks next.",
        ("test.test_threading_local.PyThreadingLocalTest.test_local_refs",),
        ("attached",),
    ),
    Difference(
        "The exception of a signal handler that runs as a generator resumes is raised before the generator's `try`.",
        "Python runs signal handlers when it calls the debugger, which it does before.",
        ("test.test_generators.SignalAndYieldFromTest.test_raise_and_yield_from",),
        ("attached",),
    ),
    Difference(
        "In a generator, `sys.exception()` after an `except` block can return the exception that its caller handles.",
        "The compiled code of pydevd does not restore the generator's state. `PYDEVD_USE_CYTHON=NO` prevents it, and "
        "makes tracing slower.",
        ("test.test_generators.ExceptionTest.test_except_*",),
        ("attached",),
    ),
    Difference(
        "Before Python 3.12, `sys.gettrace()` returns a function of pydevd.",
        "pydevd traces by this function.",
        ("test.test_sys.SysModuleTest.test_recursionlimit_recovery",),
        ("attached",),
    ),
    Difference(
        "Before Python 3.12, `RecursionError` is raised a few calls earlier.",
        "The functions of pydevd that trace a call are on the stack, too.",
        ("threads_and_memory",),
        ("attached",),
    ),
    Difference(
        "`gc.get_objects()` and `gc.get_count()` count objects of pydevd.",
        "pydevd's threads run beside those of the program.",
        ("test.test_gc.GCTests.test_get_objects_arguments", "test.test_gc.GCTests.test_get_count"),
        ("attached",),
    ),
    Difference(
        "If gevent patches the program, its standard error has pydevd's advice to set `GEVENT_SUPPORT`, and with "
        "Python 3.13 gevent's errors in forked children. `threading.active_count()` counts pydevd's threads.",
        "gevent changes the modules that pydevd's threads use.",
        ("gevent_threads",),
        ("attached",),
    ),
)


def known_difference(test: str, mode: str) -> Difference | None:
    """Return why this test fails with raydap, or None if no reason is known."""
    for each in DIFFERENCES:
        if mode in each.modes and any(fnmatch(test, pattern) for pattern in each.tests):
            return each
    return None
