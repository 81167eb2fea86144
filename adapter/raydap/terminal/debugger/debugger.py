"""The state that the debugger's commands share: the focus of the user, and the threads and workers of the session."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console

from raydap.analysis.sets.folding import group_name
from raydap.client.dap_connection import DapConnection, RequestRefused, SessionError
from raydap.protocol.raydap_messages import WorkerEntry
from raydap.protocol.stack_messages import Places, PlacesArguments, WorkerPlace
from raydap.terminal.debugger.breakpoint_numbers import NumberedBreakpoints
from raydap.terminal.debugger.frames import Frame, Sources, stack, users
from raydap.terminal.debugger.old_debugger import OldDebugger
from raydap.terminal.debugger.printing import Output
from raydap.terminal.debugger.stopped_threads import StoppedThreads, ThreadStop
from raydap.terminal.live_session import LiveSession

GATHER_S = 0.05
"""Seconds for which stops are collected and then shown together, because the workers of a class stop almost at once."""


class CommandError(Exception):
    """A command cannot be carried out. The text is for the user."""


@dataclass
class Focus:
    """The thread, the frame and the set to which commands apply."""

    thread: int | None = None
    """The thread that the user looks at; None if no thread is stopped."""
    frame: int = 0
    """The index of the frame in `Debugger.frames`, from the innermost one."""
    name: str = ""
    """The name of the thread's worker."""
    select: str | None = None
    """The set that commands apply to; None for the thread alone."""
    listed: int = 0
    """The last line that `list` has shown; 0 if `list` has shown none here."""


@dataclass
class Debugger:
    """A debug session in the terminal."""

    live: LiveSession
    """The session, with its workers."""
    console: Console
    """The output: a terminal, a file or a pipe."""
    threads: StoppedThreads = field(default_factory=StoppedThreads)
    """The threads that are stopped, as the session's events report them."""
    focus: Focus = field(default_factory=Focus)
    """The thread, the frame and the set to which commands apply."""
    sources: Sources = field(default_factory=Sources)
    """The reader of source files, which keeps the files that it has read from workers."""
    displays: list[str] = field(default_factory=list)
    """The expressions that are shown at each stop."""
    has_ended: bool = False
    """Whether the session has ended."""
    has_launched: bool = False
    """Whether the session has launched a program, and ends with it."""
    old: OldDebugger = field(default_factory=OldDebugger)
    """The breakpoints of Ray's old debugger."""

    def __post_init__(self) -> None:
        self.out = Output(self.console)
        self.breakpoints = NumberedBreakpoints(self.live)
        self.keys: dict[int, str] = {}
        """The keys of the workers, by the ids of all threads that have stopped so far."""
        self.announcing = asyncio.Lock()
        """While a command holds this lock, new stops are not shown and remove no breakpoint.

        So the output of the command comes before the stops that it causes.
        """
        self._stacks: dict[int, tuple[int, list[Frame]]] = {}
        """The frames of each thread, with the number of the stop at which they were read."""

    @property
    def connection(self) -> DapConnection:
        """The connection to the session."""
        return self.live.session.connection

    async def request(self, command: str, **arguments: Any) -> Any:
        """Send a DAP request, and return the body of its answer. Raises SessionError."""
        return await self.connection.request(command, arguments)

    # The thread that the user looks at.

    def current(self) -> int:
        """Return the thread that the user looks at. Raises CommandError if it is not stopped."""
        if self.focus.thread is None or self.focus.thread not in self.threads.stops:
            if self.threads.stops:
                raise CommandError("This worker is not stopped any more; `focus` switches to the next stopped one.")
            raise CommandError("No worker is stopped; `workers` lists them, and `wait` waits for a stop.")
        return self.focus.thread

    @property
    def prompt_name(self) -> str:
        """The name in the prompt: the worker or set that commands apply to, or the pdb that gets the lines."""
        if self.old.joined is not None:
            connection, found = self.old.joined
            return f"pdb {found.name}" if connection.prompt.endswith("Pdb)") else connection.prompt.strip("()")
        if self.focus.select is not None:
            return self.focus.select
        return self.focus.name if self.focus.thread in self.threads.stops else "raydap"

    def look_at(self, thread: int | None) -> None:
        """Move the focus to the innermost frame of a thread, or to no thread."""
        self.focus.thread, self.focus.frame, self.focus.listed = thread, 0, 0

    def next_stopped(self) -> int | None:
        """Return the thread that has been stopped for the longest time; None if no thread is stopped."""
        stops = sorted(self.threads.stops.values(), key=lambda stop: stop.number)
        return stops[0].thread if stops else None

    async def frames(self, thread: int) -> list[Frame]:
        """Return a thread's frames with code of the user's, innermost first. Raises CommandError and SessionError."""
        number = self.threads.number(thread)
        if self._stacks.get(thread, (0, []))[0] != number:
            self._stacks[thread] = number, users(await stack(self.connection, thread))
        found = self._stacks[thread][1]
        if not found:
            raise CommandError("This thread has no stack frame to show.")
        return found

    async def frame(self) -> Frame:
        """Return the frame that the user looks at. Raises CommandError and SessionError."""
        found = await self.frames(self.current())
        return found[min(self.focus.frame, len(found) - 1)]

    async def show(self, thread: int) -> None:
        """Move the focus to a stopped thread, and show where it is. Raises CommandError and SessionError."""
        if self.focus.thread != thread or self.focus.frame:
            self.look_at(thread)
        self.focus.listed = 0
        await self.show_frame(self.threads.stops.get(thread))

    async def show_frame(self, stop: ThreadStop | None = None) -> None:
        """Show the frame that the user looks at. Raises CommandError and SessionError.

        With `stop`, also show the exception that has caused it, and the displayed expressions.
        """
        frame = await self.frame()
        lines = await self.sources.lines(self.connection, frame)
        name = self.focus.name = self.name(self.current())
        if stop is not None and stop.reason == "exception":
            self.out.error(await self.exception(stop))
        self.out.place(name, frame.place, lines[frame.line - 1] if 0 < frame.line <= len(lines) else "")
        for expression in self.displays if stop is not None else ():
            self.out.text(f"display {expression}: {await self.shown(expression, frame)}")

    async def exception(self, stop: ThreadStop) -> str:
        """Return the exception of a stop, as Python writes it. Raises SessionError."""
        try:
            info = await self.request("exceptionInfo", threadId=stop.thread)
        except RequestRefused:
            return stop.description or "exception"
        # debugpy appends a note about the frame, which is shown anyway.
        parts = [str(info.get(key) or "").partition("(note:")[0].strip() for key in ("exceptionId", "description")]
        return ": ".join(filter(None, parts)) or "exception"

    async def evaluate(self, expression: str, frame: Frame | None = None, context: str = "watch") -> str:
        """Return the value of an expression in a frame, by default in the frame that the user looks at.

        Raises CommandError with the error of the expression, and SessionError. `context` must be "watch" or "repl": in
        other contexts debugpy returns an error as if it were a value.
        """
        where = frame if frame is not None else await self.frame()
        try:
            body = await self.request("evaluate", expression=expression, frameId=where.id, context=context)
        except RequestRefused as refused:
            raise CommandError(last_line(str(refused))) from None
        return str(body.get("result", ""))

    async def shown(self, expression: str, frame: Frame) -> str:
        """Return the value of an expression, or its error. Raises SessionError."""
        try:
            return await self.evaluate(expression, frame)
        except CommandError as error:
            return f"*** {error}"

    # Workers.

    def learn_threads(self, entries: Iterable[WorkerEntry | None]) -> None:
        """Store the workers of threads. `entries` are workers that have changed; None is a worker that has ended."""
        for entry in entries:
            if entry is not None:
                self.keys.update(dict.fromkeys((each.thread_id for each in entry.threads), entry.key))

    def worker_of(self, thread: int) -> WorkerEntry | None:
        """Return the worker of a thread; None if it is not known, or not listed any more."""
        return self.live.workers.get(self.keys.get(thread, ""))

    def process_has_ended(self, thread: int) -> bool:
        """Return whether the process of a thread has ended. A worker from which raydap has detached still runs."""
        return self.worker_of(thread) is None and self.keys.get(thread, "") not in self.live.detached

    def renew_name(self) -> bool:
        """Renew the name of the worker that the user looks at. Return whether it has changed."""
        before, thread = self.focus.name, self.focus.thread
        if thread is None or thread not in self.threads.stops:
            return False
        name = self.name(thread)
        self.focus.name = name
        return name != before

    def name(self, thread: int) -> str:
        """Return the name of a thread's worker: `Trainer 3`, or `prepare 4711`."""
        entry = self.worker_of(thread)
        if entry is None:
            return f"thread {thread}"
        order = next((each.order for each in entry.threads if each.thread_id == thread), 0)
        return entry.title + (f" #{order}" if order else "")

    async def places(self, select: str | None) -> list[WorkerPlace]:
        """Return where the threads of a set are; those of all workers for None. Raises SessionError."""
        return list((await self.live.ask("raydap/places", PlacesArguments(select=select), Places)).places)

    async def stopped_in(self, select: str) -> list[WorkerPlace]:
        """Return the stopped threads of a set. Raises SessionError, and CommandError if there is none."""
        found = [each for each in await self.places(select) if isinstance(each.thread, int)]
        if not found:
            raise CommandError("No worker in this set is stopped.")
        return found

    async def show_many(self, threads: Iterable[int]) -> None:
        """Show where these stopped threads are: a line for each place, the largest group last. Raises SessionError."""
        wanted = set(threads)
        groups: dict[str, list[WorkerEntry]] = {}
        for each in await self.places("state:stopped"):
            if each.thread in wanted and each.worker in self.live.workers:
                entry = self.live.workers[each.worker]
                errors = [thread.error for thread in entry.threads if thread.thread_id == each.thread and thread.error]
                groups.setdefault(" ".join([each.text, *errors]), []).append(entry)
        for text, entries in sorted(groups.items(), key=lambda group: len(group[1])):
            count = f"{len(entries)} " if len(entries) > 1 else ""
            self.out.text(f"+ {count}{group_name(entries)} {text}", "green")

    async def announce(self) -> None:
        """Show new stops until cancelled. Stops that come within GATHER_S are shown together."""
        while True:
            await self.threads.wait(lambda: bool(self.threads.unseen))
            await asyncio.sleep(GATHER_S)
            async with self.announcing:
                await self.show_unseen()

    async def show_unseen(self) -> None:
        """Show the stops in `threads.unseen`. If the focus is on no stopped thread, move it to the first of them."""
        stops, self.threads.unseen = list(self.threads.unseen.values()), {}
        stops = [stop for stop in stops if self.threads.stops.get(stop.thread) is stop]
        if not stops:
            return
        try:
            goes_there = self.focus.thread not in self.threads.stops and not self.threads.expected
            if len(stops) > 1 or not goes_there:
                await self.show_many(stop.thread for stop in stops)
            if goes_there:
                await self.show(stops[0].thread)
        except (SessionError, CommandError) as error:
            self.out.note(str(error))


def last_line(text: str) -> str:
    """Return the last line of a traceback, which contains the error: debugpy sends the whole traceback."""
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else "The expression failed without an error message."
