"""The session of a report: its own, with a launched program or a job, and breakpoints from the beginning on."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from raydap.client import joining
from raydap.client.dap_connection import SessionError
from raydap.client.joining import Target
from raydap.terminal.live_session import LiveSession

Specs = Mapping[str, Sequence[Mapping[str, Any]]]
"""The breakpoints of each file."""


class WatchedSession(LiveSession):
    """It joins nobody: the stops of others are not to be resumed."""

    async def find(self, target: Target) -> None:
        """Raises what joining.find raises."""
        if target.url is None:
            self.session = await joining.own(self._take_event, self._gone)
            return
        await super().find(target)
        if self.session.is_active:
            text = (
                f"{self.session.name} debugs for others already, and a report would resume their stops; leave it out."
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
        """Begins by `launch` or `attach`. `on_answer` gets each file, its breakpoints and what is answered to them,
        before anything can stop there. Raises SessionError."""

        async def configure() -> None:
            request = self.session.connection.request
            for file, specs in breakpoints.items():
                answer = await request("setBreakpoints", {"source": {"path": file}, "breakpoints": specs})
                on_answer(file, specs, answer.get("breakpoints") or [])
            await request("setExceptionBreakpoints", {"filters": list(filters)})
            # Whose thread it is that stops has to be known at once.
            await request("raydap/workers", {"all": True}, self._take_workers)

        await self.session.begin(command, arguments, configure)

    async def dashboard(self) -> str:
        """Return the dashboard of the cluster, "" if it is not known yet or if a hub's machine alone may reach it."""
        if self.session.own is None:
            return ""
        with suppress(SessionError):
            await self.session.connection.request("raydap/workers", {"all": True}, self._take_workers)
        return self.cluster
