"""The commands about workers: `workers`, `focus`, `attach`, `detach` and `pause`."""

from typing import Any

from raydap.protocol.raydap_messages import SelectArguments, SelectedWorkers
from raydap.terminal import process_list
from raydap.terminal.debugger.command_line import ALL_STOPPED, as_set, workers_named
from raydap.terminal.debugger.debugger import CommandError, Debugger
from raydap.terminal.debugger.moving import SLOW_S


async def workers(debugger: Debugger, select: str | None, rest: str) -> None:
    """List workers as `raydap ps` does, and mark the worker that the user looks at.

    Without a set, equal rows are folded; the marked worker keeps a row of its own. With a set, each worker has a row.
    """
    wanted = workers_named(select, rest)
    rows = await process_list.look(debugger.live, debugger.old.listing, wanted, False, process_list.Seen())
    if not rows:
        has_other = wanted is not None and debugger.live.workers
        debugger.out.text(debugger.live.no_worker_in(wanted or "") if has_other else "No workers are running.")
        return
    entry = None if debugger.focus.thread is None else debugger.worker_of(debugger.focus.thread)
    marked = None if entry is None else entry.key
    shown = process_list.folded(rows, apart=marked) if wanted is None else process_list.singly(rows)
    debugger.out.rich(process_list.as_table(shown, debugger.console.width, marked))


async def focus(debugger: Debugger, select: str | None, rest: str) -> None:
    """Move the focus to a worker, by its rank or by a set with one stopped thread, or to a set.

    With the focus on a set, commands apply to the whole set. Without a set, the focus returns to one worker.
    """
    wanted = select if select is not None else as_set(rest) if rest else None
    if wanted is None:
        debugger.focus.select = None
        if debugger.focus.thread not in debugger.threads.stops:
            debugger.look_at(debugger.next_stopped())
        await debugger.show(debugger.current())
        return
    found = await debugger.stopped_in(wanted)
    threads = [each.thread for each in found if isinstance(each.thread, int)]
    if debugger.focus.thread not in threads or len(threads) == 1:
        debugger.look_at(threads[0])
    debugger.focus.select = wanted if len(threads) > 1 or wanted == ALL_STOPPED else None
    if len(threads) == 1:
        await debugger.show(threads[0])
    else:
        debugger.out.text(f"Commands now apply to {len(threads)} threads; `focus` without a set ends that.")


async def attach(debugger: Debugger, select: str | None, rest: str) -> None:
    """Attach to the workers of a set that wait or have an agent; without a set, to all that wait now and later."""
    wanted = workers_named(select, rest)
    await debugger.request("raydap/attach", **({} if wanted is None else {"select": wanted}))


async def detach(debugger: Debugger, select: str | None, rest: str) -> None:
    """Detach from a set, or from the worker that the user looks at. The workers run without a debugger then."""
    wanted = workers_named(select, rest)
    if wanted is None:
        entry = debugger.worker_of(debugger.current())
        if entry is None:
            raise CommandError("The worker is not known; give a set: detach actor:Trainer.")
        arguments: dict[str, Any] = {"workers": [entry.key]}
    else:
        arguments = {"select": wanted}
    await debugger.request("raydap/detach", **arguments)
    if debugger.focus.thread not in debugger.threads.stops:
        debugger.look_at(debugger.next_stopped())


async def pause(debugger: Debugger, select: str | None, rest: str) -> None:
    """Pause the running workers of a set where they are; without a set, pause all attached workers."""
    wanted = workers_named(select, rest)
    number = max((stop.number for stop in debugger.threads.stops.values()), default=0)
    if wanted is None:
        await debugger.request("pause", threadId=0)
    else:
        chosen = await debugger.live.ask("raydap/select", SelectArguments(select=wanted, running=True), SelectedWorkers)
        states = {debugger.live.workers[key].state for key in chosen.workers if key in debugger.live.workers}
        if not states:
            raise CommandError(debugger.live.no_worker_in(wanted))
        if states == {"stopped"}:
            raise CommandError("All workers in this set are already stopped.")
        await debugger.request("raydap/pause", select=wanted)
    stops = debugger.threads.stops
    if not await debugger.threads.wait(lambda: any(stop.number > number for stop in stops.values()), SLOW_S):
        debugger.out.note("No worker has stopped.")
