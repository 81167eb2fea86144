"""The session of a report, which sets its breakpoints before any worker can stop."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from raydap.client import joining
from raydap.client.dap_connection import SessionError
from raydap.client.joining import SessionTarget
from raydap.terminal.live_session import LiveSession

Specs = Mapping[str, Sequence[Mapping[str, Any]]]
"""The breakpoints of each file (spec: SourceBreakpoint), by its path."""


class WatchedSession(LiveSession):
    """A session that no other client uses, because a report would resume the stops of other clients."""

    async def find(self, target: SessionTarget) -> None:
        """Make a session of this process, or connect to the hub that the user names.

        Raises SessionError if the hub already debugs for other clients, and what joining.find raises.
        """
        if target.url is None:
            self.session = await joining.own(self._take_event, self._gone)
            return
        await super().find(target)
        if self.session.is_active:
            text = (
                f"{self.session.name} is in use by another client, and the report would resume that client's stops. "
                "Run without --connect, or when no client uses the hub."
            )
            raise SessionError(text)

    async def watch(
        self,
        command: str,
        arguments: Mapping[str, Any],
        breakpoints: Specs,
        filters: Sequence[str],
        on_answer: Callable[[str, Any, Any], None],
    ) -> None:
        """Begin to debug by `launch` or `attach`, with breakpoints and exception filters.

        Before any worker can stop, `on_answer` is called for each file with its path, its breakpoints, and the
        breakpoints in the answer of `setBreakpoints`. Raises SessionError.
        """

        async def configure() -> None:
            request = self.session.connection.request
            for file, specs in breakpoints.items():
                answer = await request("setBreakpoints", {"source": {"path": file}, "breakpoints": specs})
                on_answer(file, specs, answer.get("breakpoints") or [])
            await request("setExceptionBreakpoints", {"filters": list(filters)})
            # The first stop must find the worker of its thread.
            await request("raydap/workers", {"all": True}, self._take_workers)

        await self.session.begin(command, arguments, configure)

    async def dashboard(self) -> str:
        """Return the URL of the cluster's dashboard; "" if it is not known yet.

        It is also "" with a hub: perhaps only the hub's machine can reach the dashboard.
        """
        if self.session.own is None:
            return ""
        with suppress(SessionError):
            await self.session.connection.request("raydap/workers", {"all": True}, self._take_workers)
        return self.cluster
