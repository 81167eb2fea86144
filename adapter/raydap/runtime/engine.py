"""Performs what the core decides: owns every connection and every task of the bridge.

One event at a time goes into the core, in the order in which things happened. Its effects are carried out at once and
none of them waits: what takes time runs as a task of its own and comes back as an event.
"""

import asyncio
import logging
import os
import secrets
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, Protocol

from raydap.core import events as ev
from raydap.core.bridge import Bridge
from raydap.core.settings import Hosting
from raydap.discovery.jobs import SubmittedJob
from raydap.discovery.relay import Cluster
from raydap.discovery.watch import Watch
from raydap.protocol.types import ClientId, WorkerKey
from raydap.runtime.debuggee import Child
from raydap.runtime.dialling import Dialling
from raydap.transport import tcp
from raydap.transport.peer import Peer

log = logging.getLogger("raydap")

TICK = 1.0
"""Seconds between two ticks of the core's clock: its deadlines are many seconds long."""

LOOK_PATIENCE = 1.0
"""Seconds for a look whether some files are there: a stack waits for it, once for each file."""

FAREWELL = 5.0
"""Seconds for workers in the middle of a handshake to be let go of before the process ends."""


class Program(Protocol):
    """The launched driver, as a child process or as a Ray job."""

    async def start(self) -> None: ...

    async def stop(self) -> None: ...


class Engine:
    """One bridge at work, in the running event loop. `close()` ends everything it has started.

    `hosting`: it is a hub, which outlives its clients.
    """

    def __init__(self, hosting: Hosting | None = None) -> None:
        self._bridge = Bridge(hosting)
        self._shared_files = hosting is None or hosting.shared_files
        self._events: deque[ev.Event] = deque()
        self._busy = False
        self._tasks: set[asyncio.Task[None]] = set()
        self._clients: dict[ClientId, Peer] = {}
        self._guests: set[ClientId] = set()
        self._client_count = 0
        self._workers: dict[WorkerKey, Peer] = {}
        self._dialling = Dialling("auto" if hosting is None else hosting.relay, self._cluster)
        self._watch: Watch | None = None
        self._discovery: set[asyncio.Task[None]] = set()
        self._program: Program | None = None
        self._listeners: list[tcp.Listener] = []
        self._idle = asyncio.Event()
        self._left = asyncio.Event()
        self._ticking = self._spawn(self._tick())

    def connect(
        self,
        open_peer: Callable[[Callable[[bytes], None], Callable[[str], None]], Peer],
        guest: bool = False,
        admitted: bool = True,
    ) -> Peer:
        """Takes a new client. `open_peer` makes its connection of the two callbacks of transport.Peer."""
        self._client_count += 1
        client = ClientId(self._client_count)
        peer = open_peer(
            lambda data: self._handle(ev.ClientMessage(client, data)),
            lambda reason: self._lost(client, reason),
        )
        self._clients[client] = peer
        if guest:
            self._guests.add(client)
        self._handle(ev.ClientConnected(client, guest, admitted))
        return peer

    def connect_untrusted(
        self, open_peer: Callable[[Callable[[bytes], None], Callable[[str], None], Callable[[], None]], Peer]
    ) -> Peer:
        """Takes a client that has yet to show the token. `open_peer` gets a third callback, which says that it has."""
        client = ClientId(self._client_count + 1)
        return self.connect(
            lambda on_message, on_gone: open_peer(on_message, on_gone, lambda: self._handle(ev.ClientAdmitted(client))),
            admitted=False,
        )

    def listening(self, port: int) -> None:
        """Clients can connect to this loopback port already."""
        self._handle(ev.DoorOpened(port, secrets.token_urlsafe()))

    async def wait_left(self) -> None:
        """Returns when the last client has left. Guests (core/perworker.py) do not count: they hold up nothing."""
        await self._left.wait()

    async def close(self) -> None:
        """Lets every worker go, ends the launched program, and returns when nothing of this bridge is left."""
        for listener in self._listeners:
            listener.close()
        self._handle(ev.Shutdown())
        for client, peer in list(self._clients.items()):
            self._lost(client, "raydap ends")
            self._shut(peer)
        try:
            await asyncio.wait_for(self._idle.wait(), FAREWELL)
        except asyncio.TimeoutError:
            log.warning("workers in the middle of a handshake were left behind")
        self._ticking.cancel()
        for peer in self._workers.values():
            self._shut(peer)
        self._spawn(self._dialling.close())
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _shut(self, peer: Peer) -> None:
        """Closes a connection; the task lets close() wait until everything is written."""
        peer.close()
        self._spawn(peer.wait_closed())

    def _lost(self, client: ClientId, reason: str) -> None:
        self._guests.discard(client)
        if self._clients.pop(client, None) is not None:
            self._handle(ev.ClientGone(client, reason))

    def _handle(self, event: ev.Event) -> None:
        """Feeds the core. An event that comes up while effects are carried out waits its turn."""
        self._events.append(event)
        if self._busy:
            return
        self._busy = True
        try:
            while self._events:
                for effect in self._bridge.handle(self._events.popleft()):
                    _PERFORM[type(effect)](self, effect)
        finally:
            self._busy = False
        if self._bridge.idle:
            self._idle.set()
        else:
            self._idle.clear()
        if not self._clients.keys() - self._guests:
            self._left.set()

    async def _tick(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            self._handle(ev.Tick(loop.time()))
            await asyncio.sleep(TICK)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        """Every task is kept here until it ends, and none ends with an exception that nobody sees."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            log.error("a task of raydap failed", exc_info=task.exception())

    # Effects.

    def _send_to_client(self, effect: ev.SendToClient) -> None:
        peer = self._clients.get(effect.client)
        if peer is not None:
            peer.send(effect.data)
            if self._watch is not None:
                self._watch.touch()

    def _drop_client(self, effect: ev.DropClient) -> None:
        self._guests.discard(effect.client)
        peer = self._clients.pop(effect.client, None)
        if peer is not None:
            self._shut(peer)

    def _dial_worker(self, effect: ev.DialWorker) -> None:
        self._spawn(self._dial(effect))

    async def _dial(self, target: ev.DialWorker) -> None:
        worker = target.worker

        def on_gone(reason: str) -> None:
            self._workers.pop(worker, None)
            self._handle(ev.WorkerGone(worker, reason))

        try:
            peer = await self._dialling.dial(target, lambda data: self._handle(ev.WorkerMessage(worker, data)), on_gone)
        except OSError as error:
            refused = isinstance(error, ConnectionRefusedError)
            self._handle(ev.WorkerGone(worker, error.strerror or str(error), refused))
            return
        self._workers[worker] = peer
        self._handle(ev.WorkerConnected(worker))

    async def _cluster(self) -> Cluster | None:
        return None if self._watch is None else await self._watch.cluster()

    def _send_to_worker(self, effect: ev.SendToWorker) -> None:
        peer = self._workers.get(effect.worker)
        if peer is not None:
            peer.send(effect.data)

    def _hang_up(self, effect: ev.HangUp) -> None:
        peer = self._workers.pop(effect.worker, None)
        if peer is not None:
            self._shut(peer)

    def _start_discovery(self, effect: ev.StartDiscovery) -> None:
        self._watch = Watch(effect.settings, self._handle, effect.patient)
        self._discovery.add(self._spawn(self._watch.run()))

    def _stop_discovery(self, _: ev.StopDiscovery) -> None:
        for task in self._discovery:
            task.cancel()
        self._discovery.clear()
        self._watch = None

    def _describe_workers(self, effect: ev.DescribeWorkers) -> None:
        if self._watch is not None:
            self._look(self._watch.describe(effect.workers))

    def _ask_fate(self, effect: ev.AskFate) -> None:
        if self._watch is not None:
            self._look(self._watch.fate(effect.worker))

    def _look(self, work: Coroutine[Any, Any, None]) -> None:
        """A part of discovery, which ends with it."""
        task = self._spawn(work)
        self._discovery.add(task)
        task.add_done_callback(self._discovery.discard)

    def _start_debuggee(self, effect: ev.StartDebuggee) -> None:
        def emit(event: ev.Event) -> None:
            # A program that was told to stop is no longer this session's.
            if self._program is program:
                self._handle(event)

        kind = SubmittedJob if effect.settings.submit else Child
        program = self._program = kind(effect.settings, emit)
        self._spawn(program.start())

    def _stop_debuggee(self, effect: ev.StopDebuggee) -> None:
        program = self._program
        if effect.silently:
            self._program = None
        if program is not None:
            self._spawn(program.stop())

    def _open_door(self, _: ev.OpenDoor) -> None:
        self._spawn(self._listen())

    async def _listen(self) -> None:
        listener = await tcp.listen("127.0.0.1", 0, lambda: self.connect(Peer, guest=True))
        self._listeners.append(listener)
        self.listening(listener.port)

    def _check_files(self, effect: ev.CheckFiles) -> None:
        if self._shared_files:
            self._spawn(self._look_for(effect.paths))
        else:
            self._handle(ev.FilesChecked(dict.fromkeys(effect.paths, False)))

    async def _look_for(self, paths: tuple[str, ...]) -> None:
        """In a thread, because a network file system can take its time; then the files count as there."""
        found = asyncio.to_thread(lambda: {path: os.path.exists(path) for path in paths})
        try:
            files = await asyncio.wait_for(found, LOOK_PATIENCE)
        except asyncio.TimeoutError:
            files = dict.fromkeys(paths, True)
        self._handle(ev.FilesChecked(files))

    def _log(self, effect: ev.Log) -> None:
        log.log(getattr(logging, effect.level.upper()), "%s", effect.text)


_PERFORM: dict[type, Callable[[Engine, Any], None]] = {
    ev.SendToClient: Engine._send_to_client,
    ev.DropClient: Engine._drop_client,
    ev.DialWorker: Engine._dial_worker,
    ev.SendToWorker: Engine._send_to_worker,
    ev.HangUp: Engine._hang_up,
    ev.StartDiscovery: Engine._start_discovery,
    ev.StopDiscovery: Engine._stop_discovery,
    ev.DescribeWorkers: Engine._describe_workers,
    ev.AskFate: Engine._ask_fate,
    ev.StartDebuggee: Engine._start_debuggee,
    ev.StopDebuggee: Engine._stop_debuggee,
    ev.OpenDoor: Engine._open_door,
    ev.CheckFiles: Engine._check_files,
    ev.Log: Engine._log,
}
