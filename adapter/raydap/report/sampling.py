"""Looks where all workers are, from time to time, without stopping any."""

from raydap import steady_time
from raydap.protocol.stack_messages import MergedStacks, Places, PlacesArguments, StacksArguments
from raydap.report.records import SampleRecord
from raydap.terminal.live_session import LiveSession

MAX_SAMPLES = 60
"""Samples that are kept. When there are more, each second of the older ones is dropped."""

MAX_MEMBERS = 100


class Samples:
    """`kept` are in the order of time."""

    def __init__(self) -> None:
        self.kept: list[SampleRecord] = []

    def add(self, sample: SampleRecord) -> None:
        self.kept.append(sample)
        if len(self.kept) > MAX_SAMPLES:
            self.kept = [*self.kept[: MAX_SAMPLES // 2 : 2], *self.kept[MAX_SAMPLES // 2 :]]


async def take(live: LiveSession, jobs: set[str]) -> SampleRecord | None:
    """The workers of these jobs; None while none is known. Raises SessionError."""
    if not jobs:
        return None
    select = f"job:{','.join(sorted(jobs))}"
    wanted = StacksArguments(select=select, running=True, outside=True, max_members=MAX_MEMBERS)
    now = steady_time.now()
    stacks = await live.ask("raydap/stacks", wanted, MergedStacks)
    places = await live.ask("raydap/places", PlacesArguments(select=select, outside=True), Places)
    unread = tuple(sorted({*stacks.unread, *places.unread}))
    return SampleRecord(time=now, stacks=stacks, places=places.places, unread=unread)
