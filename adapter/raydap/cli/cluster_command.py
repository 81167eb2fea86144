"""Code that `raydap up` and `raydap down` share."""

import os
from collections.abc import Awaitable, Callable

from raydap.cli import options, signals
from raydap.cluster.dashboard.dashboard_address import resolve
from raydap.cluster.dashboard.rest import Rest
from raydap.errors import Code, ProblemError

ARGUMENT = "--dashboard {}"
"""How the user names the cluster on the command line."""

_WITH_DETAIL = (Code.HUB_FAILED, Code.SUBMIT_FAILED)
"""Problems of a job, whose detail is printed because it explains the cause.

The detail of all other problems is for raydap's own log.
"""


def run(dashboard: str | None, work: Callable[[Rest], Awaitable[None]]) -> int:
    """Run `work` with the cluster's dashboard, print its errors, and return the exit code."""
    return signals.run(_run(dashboard, work))


async def _run(dashboard: str | None, work: Callable[[Rest], Awaitable[None]]) -> int:
    try:
        rest = (await resolve(dashboard, os.environ, argument=ARGUMENT)).client(os.environ)
        try:
            await work(rest)
        finally:
            await rest.close()
    except ProblemError as error:
        has_detail = error.problem.detail and error.problem.code in _WITH_DETAIL
        options.note(f"{error.problem}\n{error.problem.detail}" if has_detail else str(error.problem))
        return 1
    except OSError as error:
        options.note(f"The connection file cannot be written: {error}.")
        return 1
    return 0
