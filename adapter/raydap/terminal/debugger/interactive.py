"""`raydap debug`: reads commands from a terminal or a pipe, and carries them out one after the other."""

import asyncio
import signal
import sys
from collections.abc import Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from raydap import safe_output
from raydap.analysis.sets.folding import group_name
from raydap.client.dap_connection import SessionError
from raydap.client.joining import SessionTarget
from raydap.client.launched_program import Program
from raydap.presentation.safe_text import program_output
from raydap.protocol.raydap_messages import BreakpointList, BreakpointsArguments, WorkerEntry
from raydap.tasks import Tasks
from raydap.terminal import screen
from raydap.terminal.debugger import pdb_commands, value_commands
from raydap.terminal.debugger.breakpoint_numbers import as_spec
from raydap.terminal.debugger.command_line import parse, separate
from raydap.terminal.debugger.command_table import BY_NAME, Leave
from raydap.terminal.debugger.debugger import CommandError, Debugger
from raydap.terminal.debugger.prompt import Interrupted, Prompt
from raydap.terminal.debugger.standard_input import StandardInput
from raydap.terminal.live_session import LiveSession

FIRST_STOP_S = 20.0
"""Seconds to wait for the first stop, if a worker waits for a debugger or a program begins."""


@dataclass
class Interactive:
    """One run of the command."""

    target: SessionTarget
    """The cluster or hub to debug, as the user names it."""
    select: str | None
    """raydap attaches only to the paused workers in this set; None for all paused workers."""
    program: Program | None
    """The program to launch; None to attach to workers."""
    all_code: bool = False
    """Whether to debug libraries, too."""
    tasks: Tasks = field(default_factory=Tasks)
    """The tasks that run beside the commands; `run` cancels them at its end."""
    exit_code: int = 0
    """The launched program's exit code, or 1 if the connection was lost; else 0."""
    _prompt: Prompt | None = None
    """The prompt; None until lines are read, and if they do not come from a terminal."""
    _command: "asyncio.Future[None] | None" = None
    """The command that Ctrl-C can cancel; None between commands."""
    _was_interrupted: bool = False
    """Whether Ctrl-C was pressed once during this command."""
    _is_given_up: bool = False
    """Whether the user has cancelled this command."""

    async def run(self) -> int:
        """Run the debugger. Return the exit code. Raises what LiveSession.find raises, and SessionError."""
        self.live = LiveSession()
        await self.live.find(self.target)
        self.debugger = debugger = Debugger(self.live, screen.console())
        debugger.has_launched = self.program is not None
        self.live.on_event = self._take_event
        try:
            await self._begin()
            debugger.old.listing.on_look = lambda: pdb_commands.announce(debugger)
            debugger.old.listing.follow(self.live)
            debugger.learn_threads(self.live.workers.values())
            announcing = self.tasks.spawn(debugger.announce())
            self.tasks.spawn(self._watch_end())
            # For Ctrl-C during a command. At the prompt the terminal is in raw mode, where Ctrl-C sends no signal.
            asyncio.get_running_loop().add_signal_handler(signal.SIGINT, self._interrupt)
            await self._carry_out(self._show_first())
            await self._read_lines()
            announcing.cancel()
            self._print_exit_summary(pdb_announced=await pdb_commands.leave(debugger))
        finally:
            self.tasks.cancel()
            await debugger.old.close()
            await self.live.session.leave()
        return self.exit_code

    # The session.

    async def _begin(self) -> None:
        session = self.live.session
        if self.program is not None:
            if session.kind != "own" or session.is_active:
                await session.close()
                await self.live.find(SessionTarget(dashboard=self.target.dashboard or ""))
            # Stop at the first line of code, as python -m pdb does.
            options = {"dashboard": self.target.dashboard, "justMyCode": not self.all_code, "stopOnEntry": True}
            await self.live.begin("launch", {**self.program.arguments, **options}, self._configure)
            return
        if session.kind == "editor":
            arguments: Mapping[str, Any] = {"join": True}
        elif session.is_active:
            arguments = {}
        else:
            arguments = {
                "dashboard": self.target.dashboard,
                "autoAttach": self.select is None,
                "justMyCode": not self.all_code,
            }
        await self.live.begin("attach", arguments, self._configure)
        if session.kind != "own":
            which = f", which debugs {session.debugs}" if session.debugs else ""
            self.debugger.out.note(f"This is {session.name}{which}.")
        await self.live.wait_listed()
        if self.select is not None:
            await self._attach_selected()
            self.tasks.spawn(self._keep_attaching())

    async def _configure(self) -> None:
        """Set exception filters and breakpoints before workers run. Raises SessionError."""
        connection = self.live.session.connection
        if self.live.session.kind != "editor":
            # Ray's post mortem stops only with this filter.
            await connection.request("setExceptionBreakpoints", {"filters": ["uncaught"]})
        if self.live.session.kind == "hub":
            # A hub drops breakpoints that no client sets again.
            found = await self.live.ask("raydap/breakpoints", BreakpointsArguments(), BreakpointList)
            for path in {each.path for each in found.breakpoints}:
                specs = [as_spec(each) for each in found.breakpoints if each.path == path]
                await self.debugger.breakpoints.send(path, specs)

    async def _attach_selected(self) -> None:
        await self.live.session.connection.request("raydap/attach", {"select": f"({self.select}) state:paused"})

    async def _keep_attaching(self) -> None:
        """Attach to workers of the set that pause later."""
        # Ray reports what a worker runs a moment after its pause, and only then may the worker be in the set.
        known: set[tuple[str, ...]] = set()
        while not self.live.ended.is_set():
            paused = {_known(entry) for entry in self.live.workers.values() if entry.state == "paused"}
            if paused - known:
                with suppress(SessionError):
                    await self._attach_selected()
            known = paused
            self.live.changed.clear()
            await self.live.changed.wait()

    async def _show_first(self) -> None:
        """Join the set's only breakpoint of Ray's old debugger, or show stops. Raises SessionError and CommandError."""
        if self.select is None or not await pdb_commands.join_selected(self.debugger, self.select):
            await self._wait_first_stop()

    async def _wait_first_stop(self) -> None:
        """Show the threads that are stopped already, or are about to stop, before the first prompt."""
        threads = self.debugger.threads
        waiting = self.program is not None or any(
            entry.state in ("paused", "attaching", "stopped") for entry in self.live.workers.values()
        )
        if waiting:
            await threads.wait(lambda: bool(threads.stops) or self.debugger.has_ended, FIRST_STOP_S)
            await self.debugger.show_unseen()
        if not threads.stops and not self.debugger.has_ended:
            count = len(self.live.busy)
            run = "1 worker is running" if count == 1 else f"{count or 'no'} workers are running"
            self.debugger.out.note(
                f"No worker is stopped; {run}. `workers` lists them, `pause SET` stops some, `break FILE:LINE` sets a "
                "breakpoint, and `wait` waits for a stop."
            )

    def _take_event(self, name: str, body: Any) -> None:
        debugger = self.debugger
        if debugger.threads.take_event(name, body):
            if name == "stopped" and body.get("hitBreakpointIds"):
                self.tasks.spawn(self._remove_temporary(tuple(body["hitBreakpointIds"])))
            self._redraw()
        elif name == "output" and body.get("category") != "telemetry":
            self._show_output(body)
        elif name == "raydap/workersChanged":
            debugger.learn_threads(debugger.live.workers.get(each["key"]) for each in body["workers"])
            self.tasks.spawn(self._renew_prompt())
        elif name == "breakpoint":
            debugger.breakpoints.answered.add(body["breakpoint"]["id"])
        elif name == "exited":
            self.exit_code = int(body.get("exitCode", 0))
        debugger.threads.notify()

    async def _renew_prompt(self) -> None:
        with suppress(SessionError):
            if self.debugger.renew_name():
                self._redraw()

    async def _remove_temporary(self, ids: tuple[int, ...]) -> None:
        """Remove the breakpoints that were hit if they are temporary."""
        with suppress(SessionError):
            # Wait for `tbreak` to end: a stop can come before `tbreak` has the id of its breakpoint.
            async with self.debugger.announcing:
                await self.debugger.breakpoints.remove_hit(ids)

    def _show_output(self, body: Any) -> None:
        text = str(body.get("output", ""))
        category = body.get("category", "console")
        if category in ("stdout", "stderr"):
            # A launched program is the user's own, so its output is trusted.
            safe_output.piece(text if self.program is not None else program_output(text))
        else:
            # The second line of debugpy's message recommends changing launch.json, which a terminal does not use.
            self.debugger.out.note(text.partition("\nNote: may have been skipped")[0].rstrip(), category == "important")

    async def _watch_end(self) -> None:
        await self.live.ended.wait()
        self.debugger.has_ended = True
        self.debugger.threads.notify()

    def _attached(self) -> list[WorkerEntry]:
        return [entry for entry in self.live.workers.values() if entry.state in ("stopped", "running", "held")]

    def _print_exit_summary(self, pdb_announced: bool = False) -> None:
        """Print what happens to the workers. `pdb_announced`: a message about the joined pdb was printed already."""
        entries = self._attached()
        names = f": {group_name(entries)}" if entries else ""
        count = f"{len(entries)} worker{'s' * (len(entries) != 1)}"
        kind = self.live.session.kind
        if self.live.lost:
            self.exit_code = 1
            self.debugger.out.error(f"The connection to {self.live.session.name} is lost: {self.live.lost}.")
        elif self.debugger.has_ended:
            self.debugger.out.note("The session is over.")
        elif self.program is not None:
            self.debugger.out.note("The program ends together with the debugger.")
        elif not entries:
            if not pdb_announced:
                self.debugger.out.note("No worker is attached.")
        elif kind == "own":
            self.debugger.out.note(f"{count} keep{'s' * (len(entries) == 1)} running{names}.")
        else:
            verb = "remains" if len(entries) == 1 else "remain"
            self.debugger.out.note(f"{count} {verb} attached to {self.live.session.name}{names}.")

    # The lines.

    async def _read_lines(self) -> None:
        self._prompt = Prompt(self.debugger) if sys.stdin.isatty() and sys.stdout.isatty() else None
        self._input = StandardInput()
        last = ""
        while not self.debugger.has_ended:
            try:
                text = await self._read()
            except Interrupted as interrupted:
                if not interrupted.text.strip():
                    await self._carry_out(self._interrupted())
                continue
            if text is None and self._prompt is not None and self.debugger.old.joined is not None:
                await pdb_commands.leave(self.debugger)
                continue
            if text is None:
                return
            try:
                if self.debugger.old.joined is not None:
                    # In pdb, an empty line repeats pdb's own last command.
                    last = ""
                    await self._carry_out(pdb_commands.send_line(self.debugger, text))
                elif text.strip() or last:
                    await self._carry_out(self.execute(text if text.strip() else last))
                    last = text.strip() or last
            except Leave:
                return

    async def _read(self) -> str | None:
        """Return the next line; None at the end of the input or of the session. Raises Interrupted."""
        if self._prompt is None:
            return await self._input.read_line()
        reading = asyncio.ensure_future(self._prompt.read())
        ended = asyncio.ensure_future(self.live.ended.wait())
        try:
            await asyncio.wait([reading, ended], return_when=asyncio.FIRST_COMPLETED)
            if not reading.done():
                return None
            return reading.result()
        except EOFError:
            return None
        finally:
            for each in (reading, ended):
                each.cancel()
            with suppress(asyncio.CancelledError, EOFError, Interrupted):
                await reading

    def _redraw(self) -> None:
        if self._prompt is not None:
            self._prompt.redraw()

    async def _interrupted(self) -> None:
        """Handle Ctrl-C at an empty line: pause all workers if no thread is stopped."""
        if self.debugger.old.joined is not None:
            self.debugger.out.note("`continue` or Ctrl-D leaves this pdb.")
        elif self.debugger.threads.stops:
            self.debugger.out.note("`quit` leaves the debugger; the workers keep running.")
        else:
            await BY_NAME["pause"].handler(self.debugger, None, "")

    async def _carry_out(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a command in a task that Ctrl-C can cancel, and print its error. Raises Leave."""
        task = self._command = asyncio.ensure_future(work)
        self._was_interrupted = self._is_given_up = False
        try:
            await task
        except asyncio.CancelledError:
            if not self._is_given_up:
                # The user has not cancelled the command: a signal ends raydap.
                task.cancel()
                raise
            self.debugger.out.note("Cancelled.")
        except (CommandError, SessionError) as error:
            self.debugger.out.error(str(error))
        finally:
            self._command = None

    def _interrupt(self) -> None:
        """Handle Ctrl-C during a command: first pause the threads that it waits for, and then cancel it.

        A pdb of Ray's cannot be interrupted, so the first Ctrl-C only prints a note, and the second leaves the pdb.
        """
        if self._command is None:
            return
        if sys.stdout.isatty():
            # The terminal has printed ^C.
            safe_output.piece("\n")
        if self.debugger.old.joined is not None and not self._was_interrupted:
            self._was_interrupted = True
            self.debugger.out.note(
                "pdb is still executing this line. Press Ctrl-C again to leave pdb; the task keeps running."
            )
        elif self.debugger.threads.expected and not self._was_interrupted:
            self._was_interrupted = True
            self.tasks.spawn(self._pause_expected())
        else:
            self._is_given_up = True
            self._command.cancel()

    async def _pause_expected(self) -> None:
        """Pause the threads that the command waits for."""
        debugger = self.debugger
        for thread in list(debugger.threads.expected):
            with suppress(SessionError):
                if debugger.threads.has_ended(thread):
                    # raydap has detached from a worker that nothing can stop. `raydap/pause` attaches to it again.
                    await debugger.request("raydap/pause", workers=[debugger.keys[thread]])
                else:
                    await debugger.request("pause", threadId=thread)

    async def execute(self, text: str) -> None:
        """Execute the commands of a line until one fails. Raises CommandError, SessionError and Leave."""
        for command in separate(text):
            await self._execute(command)

    async def _execute(self, text: str) -> None:
        line = parse(text, BY_NAME)
        command = BY_NAME.get(line.name)
        select = line.select
        if select is None and (command is None or command.follows_focus):
            select = self.debugger.focus.select
        handler = value_commands.python if command is None else command.handler
        await handler(self.debugger, select, line.rest)


def _known(entry: WorkerEntry) -> tuple[str, ...]:
    """Return the facts about a worker on which a set may depend, and which Ray may report late."""
    return entry.key, entry.name, entry.task, entry.actor_name, entry.job, entry.submission
