"""Another local user is at the other end of each Unix socket. The modes of socket and folder let every user in.

Some systems do not check the mode of a socket.
"""

import asyncio
import os
import socket
import stat
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from raydap import private_listener
from raydap.cluster.relay import relay_actor
from raydap.inworker.agent import Agent
from raydap.inworker.raydap_calls import is_listening
from raydap.runtime.clients import Clients
from raydap.runtime.session_socket import SessionSocket
from raydap.transport import unix
from support.other_users import LIMIT_S, acting_as, listening_stranger, needs_root, received
from users.user_files import Place

pytestmark = needs_root

Take = Callable[[object], None]

Serve = Callable[[Path, Take], AbstractAsyncContextManager[str]]


@asynccontextmanager
async def raydap(folder: Path, take: Take) -> AsyncIterator[str]:
    listener = private_listener.SameUserListener(str(folder / "raydap-call-1-1"), take)
    try:
        yield listener.path
    finally:
        listener.close()


@asynccontextmanager
async def raydap_of_a_driver(folder: Path, take: Take) -> AsyncIterator[str]:
    listener = unix.PrivateListener("raydap-call-1-1", take)
    try:
        yield listener.path
    finally:
        listener.close()


@asynccontextmanager
async def relay(folder: Path, take: Take) -> AsyncIterator[str]:
    def take_call(hello: bytes, connection: relay_actor.Connection) -> int:
        take(hello)
        return 1

    watch = relay_actor.AgentWatch(str(folder), "raydap-call-1-1", take_call)
    await watch.begin()
    try:
        yield str(folder / "raydap-call-1-1")
    finally:
        watch.close()


@asynccontextmanager
async def session(folder: Path, take: Take) -> AsyncIterator[str]:
    served = await SessionSocket.serve(Clients(take), {"XDG_RUNTIME_DIR": str(folder)})
    assert served is not None
    try:
        yield str(folder / "raydap" / f"session-{os.getpid()}.sock")
    finally:
        served.close()


@pytest.mark.parametrize("serve", [raydap, raydap_of_a_driver, relay, session])
def test_a_connection_of_theirs_is_closed(serve: Serve, place: Place) -> None:
    async def main() -> None:
        taken: asyncio.Queue[object] = asyncio.Queue()
        async with serve(place.home, taken.put_nowait) as path:
            assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
            assert await asyncio.to_thread(received, path) == "kept out"
            with acting_as(0):
                for each in (path, *map(str, Path(path).parents)):
                    if each.startswith(tuple(map(str, (place.home, place.shared, "/tmp/raydap-")))):
                        os.chmod(each, 0o777)
            assert await asyncio.to_thread(received, path) == "received b''"
        assert taken.empty()

    with acting_as(place.victim):
        asyncio.run(main())


@pytest.mark.parametrize("serve", [raydap, raydap_of_a_driver, session])
def test_a_connection_of_this_user_is_taken(serve: Serve, place: Place) -> None:
    async def main() -> None:
        taken: asyncio.Queue[object] = asyncio.Queue()
        async with serve(place.home, taken.put_nowait) as path:
            with await unix.dial(path, LIMIT_S):
                found = await taken.get()
                if isinstance(found, socket.socket):
                    found.close()

    with acting_as(place.victim):
        asyncio.run(main())


async def dial(path: str) -> object:
    return await unix.dial(path, LIMIT_S)


async def call(path: str) -> object:
    return Agent(os.path.dirname(path), {}, "").call(path)


async def ask_whether_raydap_listens(path: str) -> object:
    return is_listening(path, os.path.dirname(path))


@pytest.mark.parametrize(
    "connect", [dial, relay_actor.open_agent, relay_actor.is_served, call, ask_whether_raydap_listens]
)
def test_what_they_serve_is_sent_nothing(connect: Callable[[str], Awaitable[object]], place: Place) -> None:
    """The listener would learn what raydap debugs, or delay a program."""
    with listening_stranger(str(place.shared / "raydap-7")) as sent, acting_as(place.victim):
        refused: object = False
        try:
            refused = asyncio.run(connect(str(place.shared / "raydap-7")))  # type: ignore[arg-type]
        except PermissionError as error:
            refused = "another user" not in str(error)
        assert refused is False
        assert sent() == "received b''\n"


def test_a_relay_takes_the_place_of_a_socket_of_theirs(place: Place) -> None:
    """Otherwise the agents of the node would call that socket, and have no debugger."""
    path = str(place.shared / "raydap-call-1-1")
    is_sticky = bool(place.shared.stat().st_mode & stat.S_ISVTX)

    async def main() -> None:
        watch = relay_actor.AgentWatch(str(place.shared), "raydap-call-1-1", lambda hello, connection: 1)
        try:
            await watch.begin()
            assert await relay_actor.is_served(path)
        finally:
            watch.close()

    with listening_stranger(path), acting_as(place.victim):
        if is_sticky and place.victim != 0:
            with pytest.raises(PermissionError):  # raydap reports the error.
                asyncio.run(main())
        else:
            asyncio.run(main())
