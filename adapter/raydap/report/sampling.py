"""Periodic samples of the stacks of all workers, which are read without stopping any worker."""

from raydap import steady_time
from raydap.protocol.stack_messages import MergedStacks, Places, PlacesArguments, StacksArguments
from raydap.report.records import SampleRecord
from raydap.terminal.live_session import LiveSession

MAX_SAMPLES = 60
"""The number of samples that are kept. When there are more, every second one of the older half is dropped."""

MAX_MEMBERS = 100
"""The number of threads that each node of the merged stacks names."""


class Samples:
    """The samples of one run."""

    def __init__(self) -> None:
        self.kept: list[SampleRecord] = []
        """In the order of time."""

    def add(self, sample: SampleRecord) -> None:
        """Keep a sample, and drop older ones if there are more than MAX_SAMPLES."""
        self.kept.append(sample)
        if len(self.kept) > MAX_SAMPLES:
            self.kept = [*self.kept[: MAX_SAMPLES // 2 : 2], *self.kept[MAX_SAMPLES // 2 :]]


async def take(live: LiveSession, jobs: set[str]) -> SampleRecord | None:
    """Return a sample of the workers of these jobs; None if `jobs` is empty.

    Raises SessionError.
    """
    if not jobs:
        return None
    select = f"job:{','.join(sorted(jobs))}"
    wanted = StacksArguments(select=select, running=True, outside=True, max_members=MAX_MEMBERS)
    now = steady_time.now()
    stacks = await live.ask("raydap/stacks", wanted, MergedStacks)
    places = await live.ask("raydap/places", PlacesArguments(select=select, outside=True), Places)
    unread = tuple(sorted({*stacks.unread, *places.unread}))
    return SampleRecord(time=now, stacks=stacks, places=places.places, unread=unread)
