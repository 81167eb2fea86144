"""One unattended run: reads the stack at each stop, resumes the worker, and gathers all data of the report."""

import asyncio
import os
import re
import secrets
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any

import msgspec

from raydap import __version__, steady_time
from raydap.bounded_wait import wait_for
from raydap.client.dap_connection import SessionError
from raydap.client.joining import SessionTarget
from raydap.cluster.dashboard.dashboard_client import Dashboard
from raydap.cluster.dashboard.rest import Rest
from raydap.errors import Code
from raydap.presentation.short_text import file_line, first_line
from raydap.protocol.raydap_messages import WorkerList
from raydap.protocol.stack_messages import MergedStacks, Places, PlacesArguments, StacksArguments
from raydap.report import records
from raydap.report.known_workers import KnownWorkers
from raydap.report.ray_tasks import RayTasks
from raydap.report.records import LookRecord, Note, Outcome, Report, SampleRecord, Timeline
from raydap.report.stop_looks import Look, look, resume
from raydap.report.watch_arguments import Watch
from raydap.report.watched_expressions import WatchedExpressions
from raydap.report.watched_lines import HitMessage, SeenErrors, SeenLine, WatchedLines
from raydap.tasks import Tasks
from raydap.terminal.live_session import LiveSession

MAX_LOOKS = 64
"""The number of stops whose stacks are read at a time. Further stops are only counted, and resumed immediately."""

MAX_NOTES = 200
"""The number of different messages that are kept."""

MAX_SAMPLES = 60
"""The number of samples that are kept. If there are more, every second one of the older half is dropped."""

MAX_LINES, MAX_LINE = 200, 2000
"""The number of complete lines of the program's output that are kept, and of characters of each line."""

CLUSTER_PAUSE_S = 1.0
"""Seconds between two attempts to find the program's cluster."""

POST_MORTEM = {"RAY_DEBUG_POST_MORTEM": "1"}
"""The environment variable that makes failing tasks and actors stop in Ray's post-mortem debugger."""


class ProgramOutput:
    """The output of one program. `echo` is called with the category and the text of each piece."""

    def __init__(self, echo: Callable[[str, str], None]) -> None:
        self.lines: deque[str] = deque(maxlen=MAX_LINES)
        """The last complete lines."""
        self._echo = echo
        self._rest = {"stdout": "", "stderr": ""}
        """The incomplete last line of each stream."""

    def take(self, category: str, text: str) -> None:
        """Pass on a piece of output, and keep its lines. `category` is `stdout` or `stderr`."""
        self._echo(category, text)
        *complete, rest = (self._rest[category] + text).split("\n")
        self.lines.extend(line[:MAX_LINE] for line in complete)
        # Bound the memory for a program that never ends its line.
        self._rest[category] = rest[:MAX_LINE]

    def all(self) -> Iterator[str]:
        """Yield the complete lines, then the incomplete last line of each stream."""
        yield from self.lines
        yield from filter(None, self._rest.values())


class WatchedRun:
    """A program or job that is watched, and all that the report contains about it.

    `print_event` is called with a line for each event that the user should read. `echo` is called with the category and
    the text of the program's output (spec: OutputEvent).
    """

    def __init__(self, watch: Watch, print_event: Callable[[str], None], echo: Callable[[str, str], None]) -> None:
        self.watch = watch
        self.live = LiveSession()
        self.live.on_event = self._take_event
        self.workers = KnownWorkers()
        self.errors = SeenErrors()
        self.samples: list[SampleRecord] = []
        self.tasks = RayTasks()
        self.started = steady_time.now()
        self.ended: float | None = None
        """When the run ended; set by unattended.py, as is `outcome`."""
        self.outcome = Outcome(state="running", code=None, text="Running.")
        self.exit_code: int | None = None
        """The exit code of the launched program, once it has ended."""
        # The markers around messages of workers are random, because programs print to the same stream.
        marker = f"@raydap-{secrets.token_hex(8)}@"
        self.lines = WatchedLines(watch.lines, marker)
        self.expressions = WatchedExpressions(watch.watches)
        self._hits_pattern = re.compile(f"{re.escape(marker)}({{[^\n]*?}}){re.escape(marker)}")
        self._print_event = print_event
        self._output = ProgramOutput(echo)
        self._notes: dict[str, Note] = {}
        self._tasks = Tasks()
        self._looks = Tasks()
        self._pid: int | None = None
        self._dashboard: Dashboard | None = None
        self._is_over = False

    # The session.

    async def begin(self, target: SessionTarget) -> None:
        """Find or make the session, start the program or attach to the job, and start the background tasks.

        Raises SessionError, also if the hub already debugs for other clients, and what joining.find raises.
        """
        watch = self.watch
        if target.url is None:
            await self.live.make()
        else:
            await self.live.find(target)
        if self.live.session.is_active:
            raise SessionError(
                f"{self.live.session.name} is in use by another client, and the report would resume that client's "
                "stops. Run without --connect, or when no client uses the hub."
            )
        arguments: dict[str, Any] = {"dashboard": target.dashboard}
        if watch.program is None:
            arguments |= {"workspaceFolder": os.getcwd(), "job": watch.job, "reach": watch.reach}
        else:
            env = POST_MORTEM if watch.on_error else {}
            arguments |= {**watch.program.arguments, "cwd": os.getcwd(), "env": env}
        await self.live.begin("attach" if watch.program is None else "launch", arguments, self._configure)
        self.workers.take(self.live.workers.values())
        self._tasks.spawn(self._follow_cluster())
        if watch.every_s is not None:
            self._tasks.spawn(self._sample_forever(watch.every_s))

    async def _configure(self) -> None:
        """Set the breakpoints and the exception filter before any worker can stop. Raises SessionError."""
        request = self.live.session.connection.request
        for file, specs in self.lines.breakpoints().items():
            answer = await request("setBreakpoints", {"source": {"path": file}, "breakpoints": specs})
            self.lines.take_answers(file, specs, answer.get("breakpoints") or [])
        if self.expressions.seen:
            answer = await request("setDataBreakpoints", {"breakpoints": self.expressions.breakpoints()})
            self.expressions.take_answers(answer.get("breakpoints") or [])
        await request("setExceptionBreakpoints", {"filters": ["uncaught"] if self.watch.on_error else []})
        # With the list of workers, the first stop finds the worker of its thread.
        await self.live.list_workers()

    async def stop_watching(self) -> None:
        """Remove all breakpoints, and return when the workers that are stopped have been resumed."""
        self._is_over = True
        for file in self.lines.breakpoints():
            await self._request("setBreakpoints", {"source": {"path": file}, "breakpoints": []})
        if self.expressions.seen:
            await self._request("setDataBreakpoints", {"breakpoints": []})
        await self._request("setExceptionBreakpoints", {"filters": []})
        await self._looks.wait()

    async def stop_program(self, timeout_s: float) -> None:
        """End the launched program, and wait at most `timeout_s` for its end."""
        self._is_over = True
        await self._request("terminate", {})
        with suppress(asyncio.TimeoutError):
            await wait_for(self.live.ended.wait(), timeout_s)

    @property
    def has_workers(self) -> bool:
        """Whether any known worker of the job has not ended."""
        jobs = self.jobs
        return any(entry.job in jobs for entry in self.live.workers.values())

    @property
    def jobs(self) -> set[str]:
        """The ids of the watched jobs; empty until a worker of one has been listed."""
        return self.workers.jobs_of(self.watch.job, self._pid)

    async def end(self) -> None:
        """End the background tasks, and request Ray's list of tasks for the last time."""
        self._tasks.cancel()
        await self._looks.wait()
        if self._dashboard is not None:
            await self.tasks.ask(self._dashboard, self.jobs)
            await self._dashboard.rest.close()
            if self.tasks.problem:
                self.note(f"Some tasks may be missing from the timeline: {self.tasks.problem}", is_news=False)
        await self._tasks.wait()

    async def leave(self) -> None:
        """Leave the session. A launched program that still runs is ended; all other workers keep running."""
        if hasattr(self.live, "session"):
            await self.live.session.leave()

    async def _request(self, command: str, arguments: Mapping[str, Any]) -> None:
        try:
            await self.live.session.connection.request(command, arguments)
        except SessionError as error:
            self.note(str(error))

    # Events.

    def _take_event(self, name: str, body: Any) -> None:
        if name == "raydap/workersChanged":
            self.workers.take(msgspec.convert(body, WorkerList).workers)
        elif name == "stopped":
            self._stopped(body)
        elif name == "continued" or (name == "thread" and body["reason"] == "exited"):
            self.workers.resume(body["threadId"])
        elif name == "output":
            self._take_output(body)
        elif name == "breakpoint":
            self.lines.take_breakpoint(body["breakpoint"])
            self.expressions.take_breakpoint(body["breakpoint"])
        elif name == "process":
            self._pid = body.get("systemProcessId")
        elif name == "exited":
            self.exit_code = int(body["exitCode"])

    def _take_output(self, body: Mapping[str, Any]) -> None:
        data, text, category = body.get("data") or {}, str(body.get("output", "")), body.get("category")
        if isinstance(data.get("worker"), str):
            found = self._hits_pattern.findall(text)
            for each in found:
                self._take_hits(data["worker"], msgspec.json.decode(each, type=HitMessage))
            if not found and category in ("important", "console", "stderr"):
                self.note(text.strip())
        elif category in ("stdout", "stderr"):
            self._output.take(category, text)
        elif text.strip() and (data.get("raydap") or {}).get("code") != Code.COLLECTIVE.value:
            # Leave out the warning that only some workers of a collective group resume: the others follow immediately.
            self.note(text.strip(), is_news="raydap" in data)

    def _take_hits(self, worker: str, message: HitMessage) -> None:
        if not 0 <= message.line < len(self.lines.lines):
            return
        seen = self.lines.lines[message.line]
        self.workers.used.add(worker)
        if not seen.hits:
            self._print_event(f"{self.workers.label(worker)} reached {_place(seen)}")
        seen.count_hits(worker, message, steady_time.now())

    # Stops.

    def _stopped(self, body: Mapping[str, Any]) -> None:
        reason = str(body.get("reason", ""))
        self.workers.pause(body["threadId"], str(body.get("text") or reason) if reason == "exception" else reason)
        self._looks.spawn(self._look(body["threadId"], body, len(self._looks) < MAX_LOOKS and not self._is_over))

    async def _look(self, thread: int, stopped: Mapping[str, Any], is_looked: bool) -> None:
        """Read the stack of a stopped thread if `is_looked`, resume the thread in any case, and record the stop."""
        raised, begun = stopped.get("reason") == "exception", steady_time.now()
        seen = await look(self.live, thread, raised) if is_looked else Look()
        # Resume the thread before its stop is recorded, so that it waits no longer than necessary.
        failed = await resume(self.live, thread)
        paused = steady_time.now() - begun
        self.workers.resume(thread)
        key = self.workers.threads.get(thread, "")
        label = self.workers.label(key)
        if failed:
            self.note(f"{label} may still be stopped: {failed}")
        if seen.problem:
            self.note(f"The stack of {label} could not be read: {seen.problem}")
        record = LookRecord(
            time=begun, worker=key, label=label, frames=seen.frames, paused=paused, problem=seen.problem
        )
        if seen.error is not None:
            if self.errors.add(seen.error, self.workers.kind(key), record):
                self._print_event(f"{label} failed: {seen.error.type}: {first_line(seen.error.text)}")
        elif not raised:
            self._add_stop(stopped, record, is_looked)

    def _add_stop(self, stopped: Mapping[str, Any], record: LookRecord, is_looked: bool) -> None:
        changed = self.expressions.take_stop(record.worker, record.time, stopped)
        if changed is not None:
            self.workers.used.add(record.worker)
            self._print_event(f"{record.label}: {stopped.get('text')}")
            return
        location = record.frames[-1].location if record.frames else None
        line = self.lines.at_stop(stopped, None if location is None else (location.path, location.line))
        if line is None:
            return
        line.stop(record.worker)
        if not is_looked:
            return
        line.looks.add(self.workers.kind(record.worker), record)
        count = sum(line.looks.counts.values())
        if count & (count - 1) == 0:
            more = "" if count == 1 else f" (stop {count} at this line)"
            self._print_event(f"{_place(line)}: {record.label} stopped for {record.paused * 1000:.0f} ms{more}")

    # Background tasks.

    async def _follow_cluster(self) -> None:
        """Wait until the program's cluster is known, then poll its list of tasks."""
        if self.live.session.own is None:
            # Perhaps only the hub's machine can reach the dashboard.
            return
        while not self.live.cluster:
            await asyncio.sleep(CLUSTER_PAUSE_S)
            with suppress(SessionError):
                await self.live.list_workers()
        self._dashboard = Dashboard(Rest(self.live.cluster, os.environ))
        await self.tasks.follow(self._dashboard, lambda: self.jobs)

    async def _sample_forever(self, every_s: float) -> None:
        while not self._is_over:
            await asyncio.sleep(every_s)
            if not self.jobs:
                continue
            try:
                sample = await self._sample(f"job:{','.join(sorted(self.jobs))}")
            except SessionError as error:
                self.note(f"The stacks of the workers could not be read: {error}")
                continue
            self.samples.append(sample)
            if len(self.samples) > MAX_SAMPLES:
                del self.samples[1 : MAX_SAMPLES // 2 : 2]
            label = sample.stacks.root.label
            self._print_event(f"read the stacks of {label}" if label else "no workers to sample")

    async def _sample(self, select: str) -> SampleRecord:
        """Read the stacks of a set of workers without stopping any of them. Raises SessionError."""
        now, wanted = steady_time.now(), StacksArguments(select=select, running=True, outside=True)
        stacks = await self.live.ask("raydap/stacks", wanted, MergedStacks)
        places = await self.live.ask("raydap/places", PlacesArguments(select=select, outside=True), Places)
        unread = tuple(sorted({*stacks.unread, *places.unread}))
        return SampleRecord(time=now, stacks=stacks, places=places.places, unread=unread)

    def note(self, text: str, is_news: bool = True) -> None:
        """Keep a message for the page, and print it the first time if it `is_news`."""
        known = self._notes.get(text)
        if known is not None:
            self._notes[text] = msgspec.structs.replace(known, count=known.count + 1)
        elif len(self._notes) < MAX_NOTES:
            self._notes[text] = Note(time=steady_time.now(), text=text)
            if is_news:
                self._print_event(text)

    def set_log(self, text: str) -> None:
        """Set the output to the log of a job, which Ray keeps; only a launched program's output comes as events."""
        self._output.lines = deque(text.splitlines(), self._output.lines.maxlen)

    # The result.

    def report(self) -> Report:
        """Return the report of what has been seen until now."""
        workers, lines, tasks = self.workers, self.lines.lines, self.tasks.spans()
        workers.used.update(key for each in lines for key in each.workers)
        workers.take_tasks(tasks)
        watched = [*(each for each in lines if each.watched.expression is None), *self.lines.calls.values()]
        pauses = (*workers.pauses, *workers.open_pauses())
        return Report(
            version=records.VERSION,
            raydap=__version__,
            title=self.watch.title,
            command=self.watch.command,
            cluster="" if self._dashboard is None else self._dashboard.rest.url,
            started=self.started,
            written=steady_time.now(),
            ended=self.ended,
            outcome=self.outcome,
            workers=tuple(workers.records(self.jobs)),
            errors=tuple(self.errors.records(workers)),
            lines=tuple(each.record(workers) for each in watched),
            traces=tuple(each.trace_record(workers) for each in lines if each.watched.expression is not None),
            samples=tuple(self.samples),
            timeline=Timeline(tasks=tuple(tasks), pauses=pauses, more=workers.more + self.tasks.more),
            notes=tuple(self._notes.values()),
            output=tuple(self._output.all()),
            watches=tuple(each.record(workers) for each in self.expressions.seen),
        )


def _place(line: SeenLine) -> str:
    return file_line(line.watched.file, line.watched.line)
