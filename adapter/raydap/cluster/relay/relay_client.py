"""Connects to debuggers that only their own node reaches, through Ray. relay_process.py does the work.

The design is in docs/design/relay.md.
"""

import asyncio
import errno
import json
import logging
import socket
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import Any

from raydap.bounded_wait import wait_for
from raydap.cluster.ray_process import ray_query

log = logging.getLogger("raydap")

START_TIMEOUT_S = 30.0
"""Seconds for the process to join the cluster, which takes 1 to 2 s."""

OPEN_TIMEOUT_S = 60.0
"""Seconds for one connection. The process gives up sooner by itself, and reports the reason."""

RESTART_DELAY_S = 30.0
"""Seconds until a process that could not join the cluster is started again."""

PASS_INTERVAL_S = 0.01
"""Seconds between two attempts to pass a connection while the process has too many to take. The connections of a burst
wait for one another."""

_CLOSE_TIMEOUT_S = 10.0


class RelayFailed(OSError):
    """The relay itself, or its actor on the node, does not work. Nothing is known about the target."""


class _ProcessEnded(RelayFailed):
    """The relay's process has ended."""


@dataclass(frozen=True, slots=True)
class ClusterAccess:
    """The session and the environment with which the relay joins a cluster."""

    session: str
    """The name of the Ray session."""
    environ: Mapping[str, str]
    """The environment for Ray, with Ray's token if the cluster wants it."""


class RelayClient:
    """Connections through Ray. Must be closed.

    The process is started when it is first needed, and again after its end. `cluster_access` returns how to join the
    cluster that is being debugged; None while that is not known.
    """

    def __init__(self, cluster_access: Callable[[], Awaitable[ClusterAccess | None]]) -> None:
        self._cluster_access = cluster_access
        self._process: _Process | None = None
        self._starting = asyncio.Lock()
        self._failure: tuple[str, str, float] | None = None
        self._closed = False

    async def open(self, node_id: str, target: Mapping[str, Any]) -> socket.socket:
        """Open a connection from a node, given by Ray's id, to a target; return a non-blocking socket.

        `target` is a debug port on the node, an agent, or another target of relay_process.py. Raises
        ConnectionRefusedError if nothing listens there, OSError if the node cannot reach it either, and RelayFailed.
        """
        process = await self._running()
        try:
            return await process.open(node_id, target)
        except _ProcessEnded:
            # The process was not in use, so its end was not noticed.
            await process.close()
        process = await self._running()
        return await process.open(node_id, target)

    async def close(self) -> None:
        """End the process, and with it its actors. No connection can be opened any more."""
        self._closed = True
        if self._process is not None:
            await self._process.close()

    async def _running(self) -> "_Process":
        async with self._starting:
            access = await self._cluster_access()
            if access is None:
                raise RelayFailed("the dashboard does not report the cluster's session")
            if self._process is not None and self._process.alive and self._process.session == access.session:
                return self._process
            if self._failure is not None:
                session, reason, until = self._failure
                if session == access.session and time.monotonic() < until:
                    raise RelayFailed(reason)
            if self._process is not None:
                await self._process.close()
            return await self._start(access)

    async def _start(self, access: ClusterAccess) -> "_Process":
        process = self._process = _Process(access.session)
        try:
            await wait_for(process.start(access.environ), START_TIMEOUT_S)
            if self._closed:
                raise RelayFailed("raydap is shutting down")
        except (RelayFailed, asyncio.TimeoutError) as error:
            await process.close()
            reason = str(error) or f"raydap could not join the cluster within {START_TIMEOUT_S:g} s"
            self._failure = (access.session, reason, time.monotonic() + RESTART_DELAY_S)
            raise RelayFailed(reason) from None
        except BaseException:
            await process.close()
            raise
        return process


class _Process:
    """One process of the operation `relay`."""

    def __init__(self, session: str) -> None:
        self.session = session
        self._control, self._theirs = socket.socketpair()
        self._control.setblocking(False)
        self._process: asyncio.subprocess.Process | None = None
        self._joined = False
        self._passing = asyncio.Lock()
        self._logging: asyncio.Task[None] | None = None

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.returncode is None

    async def start(self, environ: Mapping[str, str]) -> None:
        """Start the process, and return when it accepts connections. Raises RelayFailed."""
        with self._theirs:
            self._process = await asyncio.create_subprocess_exec(
                *ray_query.command("relay"),
                env=ray_query.driver_environment(environ),
                stdin=self._theirs.fileno(),
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                # Ctrl+C must not reach the process: raydap detaches from the workers first, and needs the relay for
                # that.
                start_new_session=True,
            )
        assert self._process.stdout is not None
        self._logging = asyncio.ensure_future(self._log())
        try:
            self._control.send(ray_query.line({"session": self.session}))
            ray_query.read_reply(await self._process.stdout.readline())
        except (OSError, ValueError):
            raise RelayFailed(f"the process with Ray's client exited with code {await self._process.wait()}") from None
        except ray_query.QueryFailed as error:
            raise RelayFailed(str(error)) from None
        self._joined = True

    async def open(self, node_id: str, target: Mapping[str, Any]) -> socket.socket:
        try:
            ours, theirs = socket.socketpair()
        except OSError as error:
            raise RelayFailed(f"raydap cannot open more connections ({error.strerror})") from None
        ours.setblocking(False)
        with ExitStack() as failed:
            failed.callback(ours.close)
            try:
                with theirs:
                    await wait_for(self._pass(theirs), OPEN_TIMEOUT_S)
                await asyncio.get_running_loop().sock_sendall(ours, ray_query.line({"node_id": node_id, **target}))
                answer = await wait_for(_answer(ours), OPEN_TIMEOUT_S)
            except asyncio.TimeoutError:
                raise RelayFailed(f"no answer within {OPEN_TIMEOUT_S:g} s") from None
            except OSError as error:
                raise _ProcessEnded(f"its process has ended ({error.strerror or error})") from None
            if answer.get("ok") is True:
                failed.pop_all()
                return ours
        if "refused" not in answer:
            raise RelayFailed(answer["error"])
        raise ConnectionRefusedError(answer["error"]) if answer["refused"] else OSError(answer["error"])

    async def _pass(self, connection: socket.socket) -> None:
        """Pass a connection to the process. Raises OSError if the process has ended.

        The kernel limits the number of descriptors that the process has not taken yet (unix(7), sendmsg(2)).
        """
        async with self._passing:
            while True:
                try:
                    socket.send_fds(self._control, [b"+"], [connection.fileno()])
                    return
                except OSError as error:
                    if error.errno not in (errno.EAGAIN, errno.ETOOMANYREFS):
                        raise
                await asyncio.sleep(PASS_INTERVAL_S)

    async def close(self) -> None:
        """End the process, and return when it has ended.

        It ends when its connections have ended, and is killed if Ray hangs.
        """
        self._control.close()
        self._theirs.close()
        if self._process is None or self._logging is None:
            return
        try:
            await wait_for(self._process.wait(), _CLOSE_TIMEOUT_S if self._joined else 0)
        except asyncio.TimeoutError:
            with suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()
        await self._logging

    async def _log(self) -> None:
        assert self._process is not None
        assert self._process.stderr is not None
        while data := await self._process.stderr.read(4096):
            for line in data.decode(errors="replace").splitlines():
                if line.strip():
                    log.info("relay: %s", line)


async def _answer(connection: socket.socket) -> dict[str, Any]:
    """Read one line of JSON, byte by byte, because the bytes behind it are the debugger's."""
    loop = asyncio.get_running_loop()
    line = b""
    while not line.endswith(b"\n"):
        data = await loop.sock_recv(connection, 1)
        if not data:
            raise ConnectionResetError("no answer")
        line += data
    answer: dict[str, Any] = json.loads(line)
    return answer
