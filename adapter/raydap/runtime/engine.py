"""Feeds events to the core and performs its effects.

The engine owns every connection and every task of the bridge. The core handles one event at a time, in the order in
which they happened. Its effects are performed at once and never wait: work that takes time runs as a task, whose result
comes back as an event. A task that fails causes the event for its failure, so that the core can answer the request.
"""

import asyncio
import logging
import secrets
from collections import deque
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from typing import Any

from raydap.bounded_wait import wait_for
from raydap.cluster.agent_injection import AgentInjection
from raydap.cluster.jobs.debuggee_job import DebuggeeJob
from raydap.cluster.ray_cluster import RayCluster
from raydap.cluster.relay.relay_client import ClusterAccess
from raydap.cluster.source import FixedAddresses, WorkerSource
from raydap.core import effects
from raydap.core import events as ev
from raydap.core.bridge import Bridge
from raydap.core.settings import HubSettings
from raydap.errors import Code, Problem, reason_of
from raydap.protocol.types import WorkerKey
from raydap.runtime import file_checks
from raydap.runtime.agents import Agents
from raydap.runtime.clients import Clients
from raydap.runtime.debuggee_process import DebuggeeProcess
from raydap.runtime.terminal_process import TerminalProcess
from raydap.runtime.worker_dialer import WorkerDialer, make_text
from raydap.tasks import Tasks
from raydap.transport import runtime_folder, tcp
from raydap.transport.peer import Peer

log = logging.getLogger("raydap")

TICK_S = 1.0
"""Seconds between two ticks of the core's clock. The core's deadlines are many seconds long."""

DETACH_TIMEOUT_S = 12.0
"""Seconds that `close()` gives workers to finish their handshakes, or to end with the launched program."""

DISCOVERY_RETRY_S = 5.0
"""Seconds until a source of workers that failed is started again."""


Debuggee = DebuggeeProcess | TerminalProcess | DebuggeeJob
"""The launched program: a child process, a process in a terminal of the editor, or a Ray job."""


class Engine:
    """A bridge in the running event loop. `close()` ends everything that it has started.

    With `hub_settings` the bridge is a hub, which outlives its clients.
    """

    def __init__(self, hub_settings: HubSettings | None = None) -> None:
        self._bridge = Bridge(hub_settings)
        self._shared_files = hub_settings is None or hub_settings.shared_files
        self._events: deque[ev.Event] = deque()
        self._busy = False
        self._idle = asyncio.Event()
        self._tasks = Tasks()
        self.clients = Clients(self._handle)
        self._workers: dict[WorkerKey, Peer] = {}
        self._dialer = WorkerDialer("auto" if hub_settings is None else hub_settings.relay, self._cluster_access)
        relay = None if self._dialer.mode == "never" else self._dialer.relay
        self._injection = AgentInjection(relay)
        self._source: WorkerSource | None = None
        self._source_tasks = Tasks()
        self._alive_watch: asyncio.Task[None] | None = None
        self._debuggee: Debuggee | None = None
        self._agents: Agents | None = None
        self._sockets = ""
        self._nodes: Mapping[str, str] = {}
        self._listeners: list[tcp.Listener] = []
        self._ticking = self._tasks.spawn(self._tick())

    def report_child_port(self, port: int) -> None:
        """Report to the core that child sessions can connect to this loopback port."""
        self._handle(ev.ChildPortOpened(port, secrets.token_urlsafe()))

    async def close(self) -> None:
        """Detach from every worker, end the launched program, and wait until no connection or task is left."""
        for listener in self._listeners:
            listener.close()
        self._handle(ev.Shutdown())
        self._close_clients()
        try:
            await wait_for(self._idle.wait(), DETACH_TIMEOUT_S)
        except asyncio.TimeoutError:
            log.warning("raydap ended before its handshakes with some workers were complete")
        self._close_clients(and_kept=True)
        self._ticking.cancel()
        self._close_agents()
        self._tasks.spawn(self._dialer.close())
        self._source_tasks.cancel()
        await self._source_tasks.wait()
        while self._workers or self._tasks:
            # A connection that was still being made may have come up in the meantime.
            for worker in list(self._workers):
                self._hang_up(effects.HangUp(worker))
            await self._tasks.wait()

    def _close_clients(self, and_kept: bool = False) -> None:
        for peer in self.clients.remove_all(and_kept):
            self._close_peer(peer)

    def _close_peer(self, peer: Peer) -> None:
        """Close a connection, and let `close()` wait until its data is written."""
        peer.close()
        self._tasks.spawn(peer.wait_closed())

    def _handle(self, event: ev.Event) -> None:
        """Feed an event to the core. Events that arrive while effects are performed wait their turn."""
        self._events.append(event)
        if self._busy:
            return
        self._busy = True
        try:
            while self._events:
                for effect in self._bridge.handle(self._events.popleft()):
                    self._perform(effect)
        finally:
            self._busy = False
        if self._bridge.idle:
            self._idle.set()
        else:
            self._idle.clear()

    def _schedule_next_part(self, _: effects.ScheduleNextPart) -> None:
        asyncio.get_running_loop().call_soon(self._handle, ev.NextPart())

    def _perform(self, effect: effects.Effect) -> None:
        """Perform an effect, and only log its failure: the next effect may be the answer to a request."""
        try:
            _PERFORM[type(effect)](self, effect)
        except Exception:
            log.exception("an effect failed: %s", type(effect).__name__)

    async def _tick(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            self._handle(ev.Tick(loop.time()))
            await asyncio.sleep(TICK_S)

    # Clients.

    def _send_to_client(self, effect: effects.SendToClient) -> None:
        self.clients.send(effect.client, effect.data)
        if self._source is not None:
            self._source.note_user_activity()

    def _drop_client(self, effect: effects.DropClient) -> None:
        if peer := self.clients.drop(effect.client):
            self._close_peer(peer)

    def _open_child_port(self, _: effects.OpenChildPort) -> None:
        self._tasks.spawn(
            self._listen_for_child_sessions(), lambda error: self._handle(ev.ChildPortFailed(reason_of(error)))
        )

    async def _listen_for_child_sessions(self) -> None:
        listener = await tcp.listen("127.0.0.1", 0, lambda: self.clients.connect(Peer, child_session=True))
        self._listeners.append(listener)
        self.report_child_port(listener.port)

    # Workers.

    def _dial_worker(self, effect: effects.DialWorker) -> None:
        self._tasks.spawn(
            self._dial(effect), lambda error: self._handle(ev.WorkerGone(effect.worker, reason_of(error)))
        )

    async def _dial(self, target: effects.DialWorker) -> None:
        worker = target.worker

        def on_gone(reason: str) -> None:
            self._workers.pop(worker, None)
            self._handle(ev.WorkerGone(worker, reason))

        try:
            waiting = None if self._agents is None else self._agents.take(worker)
            on_message = lambda data: self._handle(ev.WorkerMessage(worker, data))  # noqa: E731
            peer = await self._dialer.dial(target, on_message, on_gone, waiting)
        except OSError as error:
            refused = isinstance(error, ConnectionRefusedError)
            self._handle(ev.WorkerGone(worker, reason_of(error), refused))
            return
        self._workers[worker] = peer
        self._handle(ev.WorkerConnected(worker))

    async def _cluster_access(self) -> ClusterAccess | None:
        return None if self._source is None else await self._source.cluster_access()

    def _release_agent(self, effect: effects.ReleaseAgent) -> None:
        if self._agents is not None:
            self._agents.release(effect.worker)

    def _reach_agents(self, effect: effects.ReachAgents) -> None:
        if self._agents is None:
            self._agents = Agents(self._handle, dialer=self._dialer)
        if effect.folder:
            self._sockets = effect.folder
            self._agents.reach_session(effect.folder)
            return
        try:
            folder = str(runtime_folder.directory())
        except OSError as error:
            log.warning("waiting programs cannot connect to raydap: %s", error)
            self._handle(ev.AgentsSearched())
        else:
            self._agents.reach(folder)

    def _reach_nodes(self, effect: effects.ReachNodes) -> None:
        self._nodes = effect.nodes
        if self._agents is None:
            self._agents = Agents(self._handle, dialer=self._dialer)
        self._agents.reach_nodes(effect.nodes)
        if self._source is not None:
            self._source.note_nodes_reached()

    def _inject_agent(self, effect: effects.InjectAgent) -> None:
        answer = partial(ev.AgentInjected, effect.worker.key)
        self._source_tasks.spawn(self._inject(effect), lambda error: self._handle(answer(reason_of(error))))

    async def _inject(self, effect: effects.InjectAgent) -> None:
        self._handle(ev.AgentInjected(effect.worker.key, await self._injection.start(effect)))

    def _send_answer(self, event: Callable[[str, str], ev.Event], text: Coroutine[Any, Any, str]) -> None:
        """Await `text` in a task, and handle `event(text, "")`, or `event("", reason)` if it fails."""

        async def send() -> None:
            try:
                answer = event(await text, "")
            except OSError as error:
                answer = event("", reason_of(error))
            self._handle(answer)

        self._tasks.spawn(send(), lambda error: self._handle(event("", reason_of(error))))

    def _send_to_worker(self, effect: effects.SendToWorker) -> None:
        if peer := self._workers.get(effect.worker):
            peer.send(effect.data)

    def _hang_up(self, effect: effects.HangUp) -> None:
        if peer := self._workers.pop(effect.worker, None):
            self._close_peer(peer)

    # The source of workers.

    def _start_discovery(self, effect: effects.StartDiscovery) -> None:
        settings = effect.settings
        if settings.workers is not None:
            self._source = FixedAddresses(settings.workers, self._handle)
        else:
            self._source = RayCluster(settings, self._handle, effect.patient)
        self._source_tasks.spawn(self._run_source(self._source))
        self._tasks.spawn(make_text(settings.tune_workers))

    async def _run_source(self, source: WorkerSource) -> None:
        """Run a source, and start it again after a failure, such as a lack of file descriptors."""
        while True:
            try:
                await source.run()
                return
            except Exception as error:
                log.exception("the search for paused workers failed")
                code = Code.DASHBOARD_UNREACHABLE if isinstance(error, OSError) else Code.INTERNAL
                text = f"raydap cannot search for paused workers ({reason_of(error)}); see its log for details."
                self._handle(ev.DiscoveryFailed(Problem(code, text, repr(error))))
            await asyncio.sleep(DISCOVERY_RETRY_S)

    def _stop_discovery(self, _: effects.StopDiscovery) -> None:
        self._source_tasks.cancel()
        self._source = None
        self._sockets, self._nodes = "", {}
        self._close_agents()

    def _ask_source(self, ask: Callable[[WorkerSource], Coroutine[Any, Any, None]]) -> None:
        if self._source is not None:
            self._source_tasks.spawn(ask(self._source))

    def _watch_alive(self, effect: effects.WatchAlive) -> None:
        if self._alive_watch is not None:
            self._alive_watch.cancel()
        source = self._source if effect.on else None
        self._alive_watch = None if source is None else self._source_tasks.spawn(source.watch_alive())

    # The launched program.

    def _start_debuggee(self, effect: effects.StartDebuggee) -> None:
        def emit(event: ev.Event) -> None:
            # Drop the events of a program that was stopped silently, or replaced.
            if self._debuggee is debuggee:
                self._handle(event)

        def failed(error: Exception) -> None:
            what = "job could not be submitted" if settings.submit else "program was not started"
            text = f"The {what} ({reason_of(error)}); see raydap's log for details."
            code = Code.SUBMIT_FAILED if settings.submit else Code.LAUNCH_FAILED
            emit(ev.DebuggeeFailed(Problem(code, text, repr(error))))

        settings = effect.settings
        process = TerminalProcess if effect.in_terminal else DebuggeeProcess
        if settings.reach == "paused":
            debuggee: Debuggee = (DebuggeeJob if settings.submit else process)(settings, emit)
        else:
            # A restart replaces the program. Its workers stay connected, but its processes no longer call raydap.
            self._close_agents()
            agents = self._agents = Agents(self._handle, settings.sub_process, self._dialer, self._driver_joined)
            if settings.submit:
                debuggee = DebuggeeJob(settings, emit, listen=agents.listen_for_job)
            else:
                debuggee = process(settings, emit, prepare=agents.environment)
            # After a restart of the program, the cluster's folder and nodes are already known.
            if self._sockets:
                agents.reach_session(self._sockets)
            agents.reach_nodes(self._nodes)
        self._debuggee = debuggee
        self._tasks.spawn(debuggee.start(), failed)

    def _driver_joined(self, cluster: str) -> None:
        if self._source is not None:
            self._source.note_cluster(cluster)

    def _close_agents(self) -> None:
        if self._agents is not None:
            self._tasks.spawn(self._agents.close())
            self._agents = None

    def _stop_debuggee(self, effect: effects.StopDebuggee) -> None:
        debuggee = self._debuggee
        if effect.silently:
            self._debuggee = None
        if debuggee is not None:
            self._tasks.spawn(self._stop(debuggee))

    async def _stop(self, debuggee: Debuggee) -> None:
        await debuggee.stop()
        self._handle(ev.DebuggeeStopped())

    # The machine.

    def _check_files(self, effect: effects.CheckFiles) -> None:
        unknown = ev.FilesChecked(dict.fromkeys(effect.paths, self._shared_files))
        if self._shared_files:
            self._tasks.spawn(self._look_for(effect.paths), lambda error: self._handle(unknown))
        else:
            self._handle(unknown)

    async def _look_for(self, paths: tuple[str, ...]) -> None:
        self._handle(ev.FilesChecked(await file_checks.existing(paths)))


_PERFORM: dict[type, Callable[[Engine, Any], None]] = {
    effects.SendToClient: Engine._send_to_client,
    effects.DropClient: Engine._drop_client,
    effects.OpenChildPort: Engine._open_child_port,
    effects.DialWorker: Engine._dial_worker,
    effects.ReleaseAgent: Engine._release_agent,
    effects.ReachAgents: Engine._reach_agents,
    effects.ReachNodes: Engine._reach_nodes,
    effects.InjectAgent: Engine._inject_agent,
    effects.AskAgent: lambda engine, effect: engine._send_answer(
        partial(ev.AgentAnswered, effect.number),
        engine._dialer.ask_agent(effect.target, effect.question, effect.timeout_s),
    ),
    effects.AskWaiting: lambda engine, effect: engine._send_answer(
        partial(ev.WaitingAnswered, effect.target.worker), engine._dialer.ask_waiting(effect)
    ),
    effects.SampleStack: lambda engine, effect: engine._send_answer(
        partial(ev.StackSampled, effect.worker.key), engine._dialer.sample_stack(effect.worker)
    ),
    effects.FindForkedWaits: lambda engine, effect: engine._send_answer(
        partial(ev.ForkedWaitsFound, effect.number), engine._dialer.forked_waits(effect)
    ),
    effects.SendToWorker: Engine._send_to_worker,
    effects.HangUp: Engine._hang_up,
    effects.StartDiscovery: Engine._start_discovery,
    effects.StopDiscovery: Engine._stop_discovery,
    effects.AskFacts: lambda engine, effect: engine._ask_source(lambda source: source.look_up_facts(effect.workers)),
    effects.AskActors: lambda engine, _: engine._ask_source(lambda source: source.list_actors()),
    effects.AskRayState: lambda engine, effect: engine._ask_source(
        lambda source: source.list_unfinished_work(effect.number, effect.delay_s)
    ),
    effects.WatchAlive: Engine._watch_alive,
    effects.AskExitReason: lambda engine, effect: engine._ask_source(
        lambda source: source.look_up_exit_reason(effect.worker)
    ),
    effects.StartDebuggee: Engine._start_debuggee,
    effects.StopDebuggee: Engine._stop_debuggee,
    effects.CheckFiles: Engine._check_files,
    effects.ScheduleNextPart: Engine._schedule_next_part,
    effects.Log: lambda _, effect: log.log(getattr(logging, effect.level.upper()), "%s", effect.text),
}
