"""Carries bytes to debug ports that only their own node reaches: through Ray, in a process of its own.

This file is run as a script by relay.py, never imported by the bridge: Ray's client ends its process when the GCS stays
away. Its argument is the name of the cluster's Ray session. Standard input is a Unix socket on which each byte comes
with a connection (SCM_RIGHTS); nobody else can hand one in. Standard output gets one JSON object, `{"ready": true}` or
`{"error": ...}`; standard error what is worth a line in the log.

On a connection, the first line asks: `{"node_id": ..., "host": ..., "port": ...}`. One line answers: `{"ok": true}`, or
`{"error": ...}` and the end, with a boolean `refused` if it is the port that was not reached. Then bytes go both ways
until either side ends. The end of standard input is ours. Ray ends the actors with their driver, also after kill -9.
"""

import asyncio
import itertools
import json
import logging
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Coroutine, Iterable
from contextlib import suppress
from typing import Any

CHUNK = 65536
"""Bytes of one call. Ray carries up to 100 KB in the call itself, and takes object store memory for more."""

UNREAD = 16
"""Chunks of one connection that may be on their way to the hub. Ray 2.39 has no such limit for asynchronous actors."""

MOST_CALLS = 10_000
"""Calls at a time for one actor: each connection has one that reads, and now and then one that writes."""

ACTOR_PATIENCE = 20.0
DIAL_PATIENCE = 10.0
FAREWELL = 5.0


class RaydapRelay:
    """The actor on one node: it holds connections to debug ports there, under numbers that the driver gives.

    No method raises: on a cluster with RAY_DEBUG_POST_MORTEM=1 the actor would become a paused worker itself.
    """

    def __init__(self) -> None:
        self._links: dict[int, tuple[asyncio.StreamWriter, asyncio.Semaphore]] = {}

    async def ready(self) -> None: ...

    async def connect(self, link: int, host: str, port: int) -> AsyncIterator[Any]:
        """Yields None, or the answer that says why there is no connection; then the bytes that come, until the end.

        All of it is one call: debugpy's adapter survives no connection that is closed again at once, so none is made
        unless Ray does what the rest takes.
        """
        try:
            reader, writer = await asyncio.wait_for(asyncio.open_connection(host, port), DIAL_PATIENCE)
        except asyncio.TimeoutError:
            yield {"error": f"no connection within {DIAL_PATIENCE:g} s", "refused": False}
            return
        except (OSError, UnicodeError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            yield {"error": reason, "refused": isinstance(error, ConnectionRefusedError)}
            return
        room = asyncio.Semaphore(UNREAD)
        self._links[link] = writer, room
        yield None
        connection = writer.get_extra_info("socket")
        with suppress(OSError):
            while data := await reader.read(CHUNK):
                # debugpy's adapter would wait 40 ms for each acknowledgement, see transport/peer.py.
                if hasattr(socket, "TCP_QUICKACK"):
                    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
                await room.acquire()
                yield data

    async def took(self, link: int) -> None:
        """Half of UNREAD chunks have reached the hub."""
        self._make_room(link, UNREAD // 2)

    async def write(self, link: int, data: bytes) -> None:
        """Returns when there is room for more. If the connection has ended, `connect` says so."""
        if link in self._links:
            writer, _ = self._links[link]
            with suppress(OSError):
                writer.write(data)
                await writer.drain()

    async def close(self, link: int) -> None:
        """Closes once everything is written. What was read by then is less than UNREAD chunks."""
        self._make_room(link, UNREAD)
        if link in self._links:
            writer, _ = self._links.pop(link)
            writer.close()

    def _make_room(self, link: int, chunks: int) -> None:
        if link in self._links:
            _, room = self._links[link]
            for _ in range(chunks):
                room.release()


class Nodes:
    """The actors, one for each node that was asked for."""

    def __init__(self) -> None:
        self._actors: dict[str, Any] = {}

    async def on(self, node_id: str) -> Any:
        """The actor of a node, made anew if it has died. Raises RayError, and asyncio's TimeoutError."""
        import ray

        actor = self._actors.get(node_id)
        if actor is not None and await self._lives(node_id, actor):
            return actor
        actor = self._actors.get(node_id) or self._start(node_id)
        try:
            await asyncio.wait_for(actor.ready.remote(), ACTOR_PATIENCE)
        except BaseException:
            if self._actors.get(node_id) is actor:
                del self._actors[node_id]
                ray.kill(actor)
            raise
        return actor

    def lost(self, node_id: str, actor: Any, error: Exception) -> None:
        """The actor has died, with all its connections."""
        if self._actors.get(node_id) is actor:
            del self._actors[node_id]
            sys.stderr.write(f"the actor on node {node_id} has ended: {_line(error)}\n")

    async def _lives(self, node_id: str, actor: Any) -> bool:
        from ray.exceptions import RayError

        try:
            await asyncio.wait_for(actor.ready.remote(), ACTOR_PATIENCE)
        except RayError as error:
            self.lost(node_id, actor, error)
            return False
        return True

    def _start(self, node_id: str) -> Any:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        import ray

        where = NodeAffinitySchedulingStrategy(node_id, soft=False)
        options = {"num_cpus": 0, "max_restarts": 0, "max_concurrency": MOST_CALLS, "scheduling_strategy": where}
        actor = self._actors[node_id] = ray.remote(RaydapRelay).options(**options).remote()
        return actor


class Relay:
    """Connects what the hub hands in with the actors."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._nodes = Nodes()
        self._links = itertools.count(1)
        self._tasks: set[asyncio.Task[None]] = set()
        self._ended = asyncio.Event()

    async def run(self) -> None:
        """Returns when the hub has ended, and with it the connections, or FAREWELL seconds later."""
        asyncio.get_running_loop().add_reader(self._control, self._take)
        await self._ended.wait()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=FAREWELL)

    def _take(self) -> None:
        try:
            data, descriptors, *_ = socket.recv_fds(self._control, 1, 1)
        except OSError:
            data, descriptors = b"", []
        for descriptor in descriptors:
            task = asyncio.ensure_future(self._serve(socket.socket(fileno=descriptor)))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        if not data:
            asyncio.get_running_loop().remove_reader(self._control)
            self._ended.set()

    async def _serve(self, connection: socket.socket) -> None:
        reader, writer = await asyncio.open_unix_connection(sock=connection)
        try:
            await self._connect(reader, writer)
        except Exception as error:
            _say(writer, {"error": _line(error)})
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        question = json.loads(await reader.readline())
        node_id = question["node_id"]
        actor = await self._nodes.on(node_id)
        if reader.at_eof():
            # The hub has given up, so no connection is made in vain.
            return
        link = next(self._links)
        arguments = link, question["host"], question["port"]
        stream = aiter(actor.connect.options(num_returns="streaming").remote(*arguments))
        refusal = await (await anext(stream))
        _say(writer, {"ok": True} if refusal is None else refusal)
        if refusal is None:
            ways = _up(reader, actor, link), _down(stream, writer, actor, link)
            await self._carry(ways, node_id, actor, link)

    async def _carry(self, ways: Iterable[Coroutine[Any, Any, None]], node_id: str, actor: Any, link: int) -> None:
        """Until either way ends."""
        from ray.exceptions import RayError

        tasks = [asyncio.ensure_future(way) for way in ways]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
        for error in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(error, RayError):
                self._nodes.lost(node_id, actor, error)
        with suppress(RayError):
            await actor.close.remote(link)


async def _up(reader: asyncio.StreamReader, actor: Any, link: int) -> None:
    """From the hub to the worker. Only one call is under way at a time, because Ray keeps no order among those of an
    asynchronous actor; what comes meanwhile goes with the next."""
    with suppress(OSError):
        while data := await reader.read(CHUNK):
            await actor.write.remote(link, data)


async def _down(stream: AsyncIterator[Any], writer: asyncio.StreamWriter, actor: Any, link: int) -> None:
    """From the worker to the hub. A stream takes two thirds of the time of calls that each wait for the next chunk."""
    taken = 0
    with suppress(OSError):
        async for chunk in stream:
            writer.write(await chunk)
            await writer.drain()
            taken += 1
            if taken % (UNREAD // 2) == 0:
                await actor.took.remote(link)


def _say(writer: asyncio.StreamWriter, answer: dict[str, Any]) -> None:
    writer.write(json.dumps(answer).encode() + b"\n")


def _line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]


def join(session: str) -> None:
    """Becomes a driver of the cluster with this Ray session. Raises RuntimeError if it has no node on this machine: a
    Ray driver needs one."""
    from ray.job_config import JobConfig

    import ray

    options = _raylet(session)
    ray.init(
        address=options["--gcs-address"],
        job_config=JobConfig(metadata={"job_name": "raydap relay"}),
        _node_ip_address=options["--node_ip_address"],
        log_to_driver=False,
        logging_level=logging.ERROR,
    )


def _raylet(session: str) -> dict[str, str]:
    """The options of a raylet of this session on this machine (ray/_private/services.py, start_raylet)."""
    import psutil  # type: ignore[import-untyped,unused-ignore]  # Ray ships it.

    for process in psutil.process_iter(["cmdline"]):
        command = process.info["cmdline"] or [""]
        options = dict(word.split("=", 1) for word in command[1:] if "=" in word)
        found = os.path.basename(command[0]) in ("raylet", "raylet.exe") and options.get("--session-name") == session
        if found and _is_ours(options["--node_ip_address"]):
            return options
    raise RuntimeError("no node of the cluster runs on the machine where raydap runs")


def _is_ours(host: str) -> bool:
    """Whether this is an address of this machine: processes of other containers may be listed too."""
    try:
        place = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)[0]
        with socket.socket(place[0], place[1]) as probe:
            probe.bind(place[4])
    except OSError:
        return False
    return True


def main() -> None:
    # Our reply must be alone on standard output, and this folder must not shadow anything Ray imports.
    reply = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.path = [folder for folder in sys.path if os.path.abspath(folder or ".") != os.path.dirname(__file__)]
    control = socket.socket(fileno=os.dup(0))
    answer: dict[str, Any] = {"ready": True}
    try:
        join(sys.argv[1])
    except Exception as error:
        answer = {"error": _line(error)}
    reply.write(json.dumps(answer) + "\n")
    reply.flush()
    if "ready" in answer:
        # Who ends the hub may signal all its processes, as Ray does with a job. Until the hub has let its workers go it
        # needs us; its end is ours.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        asyncio.run(Relay(control).run())


if __name__ == "__main__":
    main()
