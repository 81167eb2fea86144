"""The one debug session of the server: an editor's, a hub's, or its own, and what is to be undone at its end."""

import asyncio
import os
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

from raydap.bounded_wait import wait_for
from raydap.client.dap_connection import SessionError
from raydap.client.joining import SessionTarget
from raydap.mcp_server.mcp_options import McpOptions
from raydap.presentation.safe_text import one_line, without_colours
from raydap.protocol.raydap_messages import ContinueThreadsArguments, ResumedThreads
from raydap.tasks import Tasks
from raydap.terminal import screen
from raydap.terminal.debugger.debugger import Debugger
from raydap.terminal.live_session import LiveSession

KEPT_OUTPUT = 200
"""The most lines of output that are kept for the next answer; older ones are only counted."""

LONGEST_OUTPUT = 10_000
"""The most characters of a line of output that are kept, the last ones: some programs never end a line."""

UNDO_TIMEOUT_S = 10.0
"""Seconds to remove breakpoints and to resume workers at the end, each of which is one request."""


class ToolError(Exception):
    """A call cannot be carried out. The text is for the model, and names the right call."""


class ToolSession:
    """A session that a model takes part in. Must be closed."""

    def __init__(self, target: SessionTarget, options: McpOptions) -> None:
        self.target = target
        self.options = options
        self.debugger: Debugger | None = None
        """The session; None before the first call, and after the last one's end."""
        self.is_debugging = False
        """Whether the session attaches to workers that pause, or has launched a program. Else it only observes."""
        self.program = ""
        """The program that was launched, else ""."""
        self.exit_code: int | None = None
        """The exit code of the launched program once it has ended."""
        self.baselines: set[str] = set()
        """The names under which `values` has kept values."""
        self.own_breakpoints: set[int] = set()
        """The ids of the breakpoints that the model has set."""
        self.moved: set[int] = set()
        """The threads that the model has stepped, whose stops are its own."""
        self.paused: set[str] = set()
        """The keys of the workers that the model has paused. The stop can come after the answer."""
        self._output: deque[str] = deque(maxlen=KEPT_OUTPUT)
        self._line = ""
        """The beginning of a line of output whose end has not come yet."""
        self._dropped = 0
        self._tasks = Tasks()
        self._joining = asyncio.Lock()

    # Beginning.

    async def joined(self) -> Debugger:
        """Return the session; join one, or begin to observe the cluster, if there is none yet.

        Raises what joining.find raises.
        """
        async with self._joining:
            if self.debugger is None or (self.live.ended.is_set() and not self.program):
                await self._join()
            return self._debugger

    async def _join(self) -> None:
        await self.leave()
        await self._find(self.target)
        session = self.live.session
        role = {"role": "observer"} if self.options.read_only else {}
        if session.is_active:
            arguments: Mapping[str, Any] = {} if session.kind == "hub" else {"join": True}
            await self._begin("attach", {**arguments, **role})
            self.is_debugging = True
        else:
            await self._begin("attach", {"dashboard": self.target.dashboard, "autoAttach": False, **role})
        await self.live.wait_listed()

    async def begin(
        self,
        command: str,
        arguments: Mapping[str, Any],
        configure: Callable[[Debugger], Awaitable[None]],
        hub: str | None = None,
    ) -> None:
        """Begin to debug, in place of the present session, by `attach` or `launch`.

        `configure` sets breakpoints before workers run. `hub` is the URL of a hub, None for a session of this process.
        Raises SessionError, OSError, and what joining.find raises.
        """
        await self.leave()
        if hub is None:
            self._new(LiveSession())
            await self.live.make()
        else:
            await self._find(SessionTarget(url=hub))
            if self.live.session.is_active:
                arguments = {}
        await self._begin(command, arguments, lambda: configure(self._debugger))
        self.is_debugging = True
        if command == "attach":
            await self.live.wait_listed()
        if self.live.session.own is not None:
            await self.live.session.own.share()

    @property
    def _debugger(self) -> Debugger:
        assert self.debugger is not None
        return self.debugger

    @property
    def live(self) -> LiveSession:
        """The session's workers."""
        return self._debugger.live

    def _new(self, live: LiveSession) -> None:
        self.debugger = Debugger(live, screen.silent_console())
        live.on_event = self._take_event

    async def _find(self, target: SessionTarget) -> None:
        live = LiveSession()
        self._new(live)
        try:
            await live.find(target)
        except BaseException:
            self.debugger = None
            raise

    async def _begin(
        self, command: str, arguments: Mapping[str, Any], configure: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        try:
            await self.live.begin(command, arguments, configure)
        except BaseException:
            await self.leave()
            raise
        self._debugger.learn_threads(self.live.workers.values())
        self._tasks.spawn(self._watch_end(self._debugger))

    async def _watch_end(self, debugger: Debugger) -> None:
        await debugger.live.ended.wait()
        debugger.has_ended = True
        debugger.threads.notify()

    # Events.

    def _take_event(self, name: str, body: Any) -> None:
        debugger = self._debugger
        if debugger.threads.take_event(name, body):
            return
        if name == "output" and body.get("category") in ("stdout", "stderr", "important"):
            self._take_output(str(body.get("output", "")))
        elif name == "raydap/workersChanged":
            debugger.learn_threads(debugger.live.workers.get(each["key"]) for each in body["workers"])
        elif name == "breakpoint":
            debugger.breakpoints.answered.add(body["breakpoint"]["id"])
        elif name == "exited":
            self.exit_code = int(body.get("exitCode", 0))
        debugger.threads.notify()

    def _take_output(self, text: str) -> None:
        *lines, rest = (self._line + text).split("\n")
        self._line = rest[-LONGEST_OUTPUT:]
        for line in lines:
            # A progress bar is drawn again after each carriage return.
            shown = without_colours(line.rstrip("\r").rpartition("\r")[2]).rstrip()
            if shown:
                self._dropped += len(self._output) == KEPT_OUTPUT
                self._output.append(one_line(shown[-LONGEST_OUTPUT:]))

    def new_output(self, most: int) -> tuple[list[str], int]:
        """Return the last `most` new lines of output, and the number of older new lines. Later calls omit both."""
        lines = list(self._output)
        dropped = self._dropped + max(0, len(lines) - most)
        self._output.clear()
        self._dropped = 0
        return lines[-most:], dropped

    # The state.

    def state(self) -> str:
        """Return the first line of an answer: how many workers are in which state."""
        if self.debugger is None:
            return "no session"
        live = self.live
        if self.program and live.ended.is_set():
            code = "" if self.exit_code is None else f" with exit code {self.exit_code}"
            return f"{self.program} has ended{code}"
        if live.ended.is_set():
            return f"the session has ended{f': {live.lost}' if live.lost else ''}"
        return live.counts

    # The end.

    def is_own_stop(self, thread: int) -> bool:
        """Return whether the model has caused the stop of a thread, by a breakpoint, a pause or a step."""
        debugger = self._debugger
        stop = debugger.threads.stops.get(thread)
        if stop is None:
            return False
        is_paused = stop.reason == "pause" and debugger.keys.get(thread) in self.paused
        return is_paused or thread in self.moved or bool(self.own_breakpoints.intersection(stop.hit))

    async def remove_breakpoints(self, ids: Iterable[int]) -> int:
        """Remove breakpoints of the model's, which also releases barriers. Return their number. Raises SessionError."""
        wanted, removed = set(ids), 0
        for _, each in await self._debugger.breakpoints.all():
            if each.id in wanted:
                await self._debugger.breakpoints.remove(each)
                removed += 1
        self.own_breakpoints -= wanted
        return removed

    async def rest(self) -> None:
        """Undo what the model has done, and leave the session; stay if a program that was launched here still runs."""
        debugger = self.debugger
        if debugger is None or not self.program or debugger.has_ended:
            await self.leave()
            return
        with suppress(SessionError, asyncio.TimeoutError):
            await wait_for(self._free(debugger), UNDO_TIMEOUT_S)

    async def _free(self, debugger: Debugger) -> None:
        """Let a launched program run to its end without a stop."""
        await debugger.connection.request("setExceptionBreakpoints", {"filters": []})
        await self.remove_breakpoints(set(self.own_breakpoints))
        await debugger.live.ask("raydap/continue", ContinueThreadsArguments(), ResumedThreads)

    async def leave(self) -> None:
        """Undo what the model has done, and leave the session. A program that was launched here ends with it."""
        debugger = self.debugger
        if debugger is None:
            return
        if hasattr(debugger.live, "session"):
            if not debugger.live.ended.is_set() and debugger.live.session.kind != "own":
                # In a session of this process all workers continue when it ends.
                with suppress(SessionError, asyncio.TimeoutError):
                    await wait_for(self._undo(debugger), UNDO_TIMEOUT_S)
            await debugger.live.session.leave()
        await debugger.old.close()
        self._tasks.cancel()
        self.debugger = None
        self.is_debugging, self.program, self.exit_code = False, "", None
        self.baselines, self.own_breakpoints, self.moved, self.paused = set(), set(), set(), set()

    async def _undo(self, debugger: Debugger) -> None:
        own = tuple(thread for thread in debugger.threads.stops if self.is_own_stop(thread))
        await self.remove_breakpoints(self.own_breakpoints)
        if own:
            await debugger.live.ask("raydap/continue", ContinueThreadsArguments(threads=own), ResumedThreads)


def resolved(path: str, folder: str = "") -> str:
    """Return the absolute path of a file that the model has named; "" if there is no such file."""
    try:
        found = os.path.abspath(os.path.join(folder or os.getcwd(), os.path.expanduser(path)))
    except ValueError:
        return ""
    return found if os.path.isfile(found) else ""
