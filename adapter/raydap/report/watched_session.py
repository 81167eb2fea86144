"""The session of a report."""

from contextlib import suppress

from raydap import steady_time
from raydap.client import joining
from raydap.client.dap_connection import SessionError
from raydap.client.joining import SessionTarget
from raydap.protocol.stack_messages import MergedStacks, Places, PlacesArguments, StacksArguments
from raydap.report.records import SampleRecord
from raydap.terminal.live_session import LiveSession

MAX_MEMBERS = 100
"""The number of threads that each node of the merged stacks of a sample names."""


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

    async def dashboard(self) -> str:
        """Return the URL of the cluster's dashboard; "" if it is not known yet.

        It is also "" with a hub: perhaps only the hub's machine can reach the dashboard.
        """
        if self.session.own is None:
            return ""
        with suppress(SessionError):
            await self.list_workers()
        return self.cluster

    async def sample(self, jobs: set[str]) -> SampleRecord:
        """Return the stacks of the workers of these jobs, read without stopping any worker. Raises SessionError."""
        select, now = f"job:{','.join(sorted(jobs))}", steady_time.now()
        wanted = StacksArguments(select=select, running=True, outside=True, max_members=MAX_MEMBERS)
        stacks = await self.ask("raydap/stacks", wanted, MergedStacks)
        places = await self.ask("raydap/places", PlacesArguments(select=select, outside=True), Places)
        unread = tuple(sorted({*stacks.unread, *places.unread}))
        return SampleRecord(time=now, stacks=stacks, places=places.places, unread=unread)
