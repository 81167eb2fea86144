"""What `raydap up` and `raydap down` have in common."""

import os
from collections.abc import Awaitable, Callable

from raydap.cli import options, signals
from raydap.cluster.dashboard.dashboard_address import resolve
from raydap.cluster.dashboard.rest import Rest
from raydap.errors import Code, ProblemError

ARGUMENT = "--dashboard {}"
"""How the user names the cluster in a command."""

_WITH_DETAIL = (Code.HUB_FAILED, Code.SUBMIT_FAILED)
"""Problems of a job, whose log says more. The detail of all others is for a log of raydap's own."""


def run(dashboard: str | None, work: Callable[[Rest], Awaitable[None]]) -> int:
    """Runs `work` with the cluster's dashboard, tells the user of its errors, and returns the exit code."""
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
        options.note(f"The connection file cannot be kept: {error}.")
        return 1
    return 0
