"""The choice of the session that a terminal command takes part in: a hub's, an editor's, or its own."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

import msgspec

from raydap.bounded_wait import wait_for
from raydap.client import session_connections
from raydap.client.dap_connection import Connect, DapConnection, SessionError
from raydap.cluster.dashboard import dashboard_address
from raydap.errors import ProblemError
from raydap.hub import connection_file
from raydap.protocol.raydap_messages import Server
from raydap.runtime import session_socket

if TYPE_CHECKING:
    # A session of this program's own needs half of raydap. Commands that join one answer faster without it.
    from raydap.client.own_session import OwnSession

ANSWER_TIMEOUT_S = 3.0
"""Seconds within which a session must report what it debugs, so that a session that hangs does not block others."""

NAMED_TIMEOUT_S = 10.0
"""Seconds to find the dashboard of a cluster that the user names by its Ray address."""

Kind = Literal["hub", "editor", "own"]


@dataclass(frozen=True, slots=True)
class SessionTarget:
    """The cluster or the hub that the user names."""

    dashboard: str | None = None
    """The cluster, as `--dashboard` takes it."""
    url: str | None = None
    """The hub, as `raydap connect` takes it."""
    token_file: str | None = None
    """The file with the token of that hub."""
    authority: str | None = None
    """A file with certificates to trust for that hub (`--tls-ca`)."""


class JoinedSession:
    """A session that this program takes part in. Must be closed. `name` is for users."""

    def __init__(
        self,
        kind: Kind,
        name: str,
        on_event: Callable[[str, Any], None],
        on_gone: Callable[[str], None],
        own: OwnSession | None = None,
    ) -> None:
        self.kind = kind
        self.name = name
        self.on_event = on_event
        self.on_gone = on_gone
        self.connection = DapConnection(self._take_event, lambda reason: self.on_gone(reason))
        self.debugs = ""
        """The dashboard of the cluster that is already debugged there, "" if there is none or before `initialize`."""
        self.is_active = False
        """Whether other clients already debug there, so that `attach` joins them. Set by `initialize`."""
        self.own = own
        self.token: str | None = None
        """The token to send in `attach` or `launch`, None if none is needed there."""
        self.way = ""
        """Its name in the result of `session_connections.find`, "" if it was not found there."""
        self._initialized = asyncio.Event()

    def _take_event(self, name: str, body: Any) -> None:
        if name == "initialized":
            self._initialized.set()
        self.on_event(name, body)

    async def initialize(self) -> str:
        """Send `initialize`, and return `debugs`. Raises SessionError."""
        arguments = {"adapterID": "raydap", "clientID": "raydap-terminal", "pathFormat": "path"}
        body = await self.connection.request("initialize", arguments | {"supportsProgressReporting": True})
        try:
            debugs = msgspec.convert(body["raydap"], Server).debugs
        except (msgspec.ValidationError, LookupError, TypeError) as error:
            text = f"{self.name} runs another version of raydap ({error}); update the older one."
            raise SessionError(text) from None
        self.is_active = isinstance(debugs, str)
        self.debugs = debugs if isinstance(debugs, str) else ""
        return self.debugs

    async def begin(
        self, command: str, arguments: Mapping[str, Any], configure: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        """Begin debugging by `attach` or `launch`, and return when that is answered. Raises SessionError.

        `configure` sets breakpoints and filters before workers may run.
        """
        token = {} if self.token is None else {"token": self.token}
        begun = asyncio.ensure_future(self.connection.request(command, {**arguments, **token}))
        waiting = asyncio.ensure_future(self._initialized.wait())
        try:
            # `launch` is answered only when the program runs, so wait for the event `initialized`.
            await asyncio.wait([begun, waiting], return_when=asyncio.FIRST_COMPLETED)
            if begun.done():
                await begun
            await waiting
            if configure is not None:
                await configure()
            await self.connection.request("configurationDone")
            await begun
        finally:
            begun.cancel()
            waiting.cancel()

    async def leave(self) -> None:
        """Leave the session, and close the connection.

        A session of this program's own ends, and its workers keep running. A hub detaches its workers if no other
        client debugged there before.
        """
        terminate = {"terminateDebuggee": True} if self.kind == "hub" and not self.is_active else {}
        # The session may have ended, or hang.
        with suppress(SessionError, asyncio.TimeoutError):
            await wait_for(self.connection.request("disconnect", terminate), ANSWER_TIMEOUT_S)
        await self.close()

    async def close(self) -> None:
        """End the connection, and a session of this program's own."""
        self.connection.close()
        await self.connection.wait_closed()
        if self.own is not None:
            await self.own.close()


async def find(
    target: SessionTarget,
    on_event: Callable[[str, Any], None],
    on_gone: Callable[[str], None],
    environ: Mapping[str, str] = os.environ,
    kept: bool = False,
) -> JoinedSession:
    """Return the session that the user means, initialized.

    It is the first of these that exists:

    - the hub of `target.url`
    - a session that debugs the cluster that the user names, or any cluster if the user names none; editors come first
    - a hub that waits for that cluster
    - a session of this program's own

    `target.dashboard` names the cluster, else RAY_API_SERVER_ADDRESS or RAY_ADDRESS. `kept` includes the sessions of
    `raydap session`, after those of editors. A program that stops workers must not join them: they have no client of
    their own that would let the workers continue.

    Raises ProblemError, SessionError, OSError and hub_token.TokenError if a hub that the user names cannot be used.
    Other sessions that cannot be used are skipped. All sessions get their requests at the same time, so a session that
    hangs delays this only by its own time limit.
    """
    if target.url is not None:
        return await _named(target, on_event, on_gone, environ)
    sessions = await _initialized(session_connections.find(kept))
    try:
        waiting = {hub.url: hub.dashboard for hub in connection_file.all_hubs(environ)}
        places = {*(session.debugs for session in sessions), *filter(None, waiting.values())} - {""}
        cluster = await _cluster(target.dashboard, environ, places) if sessions else None
        found = choose(sessions, cluster, waiting)
    except BaseException:
        await _close(sessions)
        raise
    await _close(session for session in sessions if session is not found)
    if found is None:
        return await own(on_event, on_gone)
    found.on_event, found.on_gone = on_event, on_gone
    return found


def choose(
    sessions: Sequence[JoinedSession], cluster: str | None, waiting: Mapping[str, str | None]
) -> JoinedSession | None:
    """Return the session to take part in, None if none fits.

    `cluster` is the dashboard that the user names, None for any. `waiting` contains the dashboard of each hub by the
    `way` of its session, None for a hub of any cluster.
    """
    for session in sessions:
        if session.debugs and (cluster is None or is_same_cluster(session.debugs, cluster)):
            return session
    for session in sessions:
        if session.kind == "hub" and not session.debugs and session.way in waiting:
            dashboard = waiting[session.way]
            if cluster is None or (dashboard is not None and is_same_cluster(dashboard, cluster)):
                return session
    return None


async def kept_for(dashboard: str | None, environ: Mapping[str, str] = os.environ) -> list[JoinedSession]:
    """Return the sessions of `raydap session` for the cluster that the user names, or all. They must be closed.

    Raises OSError.
    """
    sessions = await _initialized(session_connections.find_kept())
    cluster = await _cluster(dashboard, environ, {session.debugs for session in sessions}) if sessions else None
    chosen = [each for each in sessions if cluster is None or is_same_cluster(each.debugs, cluster)]
    await _close(session for session in sessions if session not in chosen)
    return chosen


async def _initialized(ways: Mapping[str, Connect]) -> list[JoinedSession]:
    """Return the sessions that can be used."""
    looks = [_candidate(name, connect) for name, connect in ways.items()]
    return [session for session in await asyncio.gather(*looks) if session is not None]


async def _candidate(name: str, connect: Connect) -> JoinedSession | None:
    """Return the session, initialized; None if it cannot be used."""
    session = JoinedSession("hub" if "://" in name else "editor", _shown(name), lambda *_: None, lambda _: None)
    session.way = name

    async def ask() -> None:
        await session.connection.open(connect)
        await session.initialize()

    try:
        await wait_for(ask(), ANSWER_TIMEOUT_S)
    except (OSError, ProblemError, SessionError, asyncio.TimeoutError):
        await session.close()
        return None
    except BaseException:
        await session.close()
        raise
    return session


async def _close(sessions: Iterable[JoinedSession]) -> None:
    await asyncio.gather(*(session.close() for session in sessions))


async def _cluster(dashboard: str | None, environ: Mapping[str, str], known: Iterable[str]) -> str | None:
    """Return the dashboard of the cluster that the user names, None if nothing names one.

    A request to Ray is needed only for a name that is no dashboard in `known`. A name that leads nowhere is returned
    unchanged: no session debugs that cluster, and this program's own session reports what is wrong with it.
    """
    name = dashboard_address.chosen(dashboard, environ)[1]
    if name is None or name == "auto":
        return None
    if any(is_same_cluster(name, each) for each in known):
        return name
    try:
        return (await wait_for(dashboard_address.resolve(dashboard, environ), NAMED_TIMEOUT_S)).url
    except (ProblemError, OSError, asyncio.TimeoutError):
        return name


async def _named(
    target: SessionTarget,
    on_event: Callable[[str, Any], None],
    on_gone: Callable[[str], None],
    environ: Mapping[str, str],
) -> JoinedSession:
    from raydap.hub import hub_address, hub_token

    assert target.url is not None
    address = hub_address.parse(target.url, environ)
    token = hub_address.token_for(address, environ) if target.token_file is None else hub_token.read(target.token_file)
    session = JoinedSession("hub", f"the hub at {address.url}", on_event, on_gone)
    # Over WebSocket the handshake carries the token.
    session.token = None if address.websocket else token
    connect: Connect = partial(hub_address.dial, address, token, target.authority)
    await session.connection.open(connect)
    try:
        await session.initialize()
    except BaseException:
        await session.close()
        raise
    return session


async def own(on_event: Callable[[str, Any], None], on_gone: Callable[[str], None]) -> JoinedSession:
    """Return a new session of this program's own, initialized, even if there are other sessions."""
    from raydap.client.own_session import OwnSession

    engine = OwnSession()
    session = JoinedSession("own", "raydap's own session", on_event, on_gone, engine)
    try:
        await session.connection.open(engine.connect)
        await session.initialize()
    except BaseException:
        await session.close()
        raise
    return session


def _shown(name: str) -> str:
    if "://" in name:
        return f"the hub at {name}"
    is_kept = os.path.basename(name).startswith("kept-")
    return f"the {'kept session' if is_kept else 'session'} of the process {session_socket.process_of(name)}"


def is_same_cluster(one: str, other: str) -> bool:
    """Return whether two URLs of dashboards name the same place."""
    return _place(one) == _place(other)


def _place(url: str) -> tuple[str, int | None]:
    parts = urlsplit(url if "://" in url else f"http://{url}")
    try:
        return (parts.hostname or "").replace("localhost", "127.0.0.1"), parts.port
    except ValueError:
        return url, None
