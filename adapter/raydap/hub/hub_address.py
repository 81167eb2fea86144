"""Hub addresses as users write them, and connections to hubs."""

import asyncio
import os
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from raydap.bounded_wait import wait_for
from raydap.errors import Code, Problem, ProblemError
from raydap.hub import connection_file
from raydap.transport import tcp, websocket_handshake
from raydap.transport.peer import Peer
from raydap.transport.websocket_handshake import HandshakeRefused
from raydap.wire import envelope

CONNECT_TIMEOUT_S = 10.0
"""Seconds to connect to a hub."""

ANSWER_TIMEOUT_S = 3.0
"""Seconds within which a running hub answers a new connection."""

_SCHEMES = {"ws": (True, False), "wss": (True, True), "tcp": (False, False), "tcps": (False, True)}
"""For each scheme of a URL: whether it means WebSocket, and whether it means TLS."""


@dataclass(frozen=True, slots=True)
class HubAddress:
    """Where a hub is, and how to connect to it."""

    url: str
    """The complete URL, with scheme, port and path."""
    host: str
    """The host name or address in the URL; an IPv6 address has no brackets here."""
    port: int
    """The port in the URL."""
    websocket: bool
    """Whether the connection is a WebSocket, whose handshake carries the token. Over TCP `attach` does."""
    tls: bool
    """Whether the connection uses TLS."""


def parse(url: str, environ: Mapping[str, str] = os.environ) -> HubAddress:
    """Return the address that the user wrote. Raises ProblemError (BAD_ARGUMENT) if it is not valid.

    `HOST:PORT` alone means a WebSocket, with TLS if the hub's connection file has `tls`.
    """
    bare = "://" not in url
    try:
        parts = urlsplit(f"ws://{url}" if bare else url)
        port = parts.port
    except ValueError as error:
        raise _bad(f'"{url}" is not a URL: {error}.') from None
    known = _SCHEMES.get(parts.scheme)
    if known is None:
        raise _bad(f'"{url}" does not begin with ws://, wss://, tcp:// or tcps://.')
    websocket, tls = known
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        # Other users of the machine can read the command line.
        raise _bad("A hub's address cannot contain a token; use --token-file or RAYDAP_TOKEN.")
    if not parts.hostname or not port:
        raise _bad(f'"{url}" has no host and port; write it like {parts.scheme}://127.0.0.1:4711.')
    path = parts.path.rstrip("/")
    if path not in (("", "/dap") if websocket else ("",)):
        right = "the path of a hub is /dap" if websocket else "a hub's TCP address has no path"
        raise _bad(f'"{url}" has the wrong path; {right}.')
    scheme = parts.scheme
    if bare:
        hub = connection_file.newest(parts.hostname, port, environ)
        if hub is not None and hub.tls:
            scheme, tls = "wss", True
    whole = f"{scheme}://{parts.netloc}{'/dap' if websocket else ''}"
    return HubAddress(whole, parts.hostname, port, websocket, tls)


def _bad(text: str) -> ProblemError:
    return ProblemError(Problem(Code.BAD_ARGUMENT, text))


def token_for(address: HubAddress, environ: Mapping[str, str]) -> str | None:
    """Return the token of RAYDAP_TOKEN, else that of the newest connection file for this address, else None."""
    given = environ.get("RAYDAP_TOKEN", "").strip()
    if given:
        return given
    found = connection_file.newest(address.host, address.port, environ)
    return None if found is None else found.token


async def dial(
    address: HubAddress,
    token: str | None,
    authority: str | None,
    on_message: Callable[[bytes], None],
    on_gone: Callable[[str], None],
) -> Peer:
    """Connect to a hub. `authority` is a file with certificates to trust in addition to the system's.

    Raises ProblemError (HUB_UNREACHABLE, HUB_REFUSED, BAD_ARGUMENT); `on_gone` is not called in that case.
    """
    try:
        context = _tls(authority) if address.tls else None
        if address.websocket:
            return await websocket_handshake.dial(address.url, token, on_message, on_gone, CONNECT_TIMEOUT_S, context)
        return await tcp.dial(
            address.host, address.port, on_message, on_gone, CONNECT_TIMEOUT_S, context, keepalive=True
        )
    except HandshakeRefused as refused:
        raise ProblemError(_refused(address, token, refused)) from None
    except ssl.SSLCertVerificationError as error:
        text = f"The hub at {address.url} has a certificate that is not trusted ({error.verify_message}); to trust it, "
        text += "give its PEM file with --tls-ca."
        raise ProblemError(Problem(Code.HUB_UNREACHABLE, text)) from None
    except (ssl.SSLError, ConnectionResetError) as error:
        if not address.tls:
            raise _unreachable(address, error) from None
        scheme = "ws" if address.websocket else "tcp"
        text = f"The server at {address.url} does not use TLS; for a hub without --tls-cert, use {scheme}://."
        raise ProblemError(Problem(Code.HUB_UNREACHABLE, text)) from None
    except OSError as error:
        raise _unreachable(address, error) from None


async def answers(address: HubAddress, token: str | None, authority: str | None) -> bool:
    """Return whether a hub answers `initialize` at this address in time. The client then leaves at once.

    A connection alone proves nothing: SSH and kubectl accept one even if they cannot forward it.
    """
    answered = asyncio.get_running_loop().create_future()

    def settle(result: bool) -> None:
        if not answered.done():
            answered.set_result(result)

    async def ask() -> bool:
        peer = await dial(address, token, authority, lambda _: settle(True), lambda _: settle(False))
        try:
            peer.send(envelope.request(1, "initialize", envelope.dump({"adapterID": "raydap"})))
            return bool(await answered)
        finally:
            peer.close()

    try:
        return await wait_for(ask(), ANSWER_TIMEOUT_S)
    except (ProblemError, asyncio.TimeoutError):
        return False


def _unreachable(address: HubAddress, error: OSError) -> ProblemError:
    reason = tcp.reason(error)
    text = f"The hub at {address.url} cannot be reached ({reason}); check that it runs and that its port is forwarded."
    return ProblemError(Problem(Code.HUB_UNREACHABLE, text))


def token_refused(url: str, token: str | None) -> Problem:
    """Return the problem of a hub that refuses `token`, or that requires a token if `token` is None."""
    if token is None:
        text = f"The hub at {url} requires its token; give --token-file or set RAYDAP_TOKEN."
    else:
        text = f"The hub at {url} refuses the token; give the right token with --token-file or RAYDAP_TOKEN."
    return Problem(Code.HUB_REFUSED, text)


def _refused(address: HubAddress, token: str | None, refused: HandshakeRefused) -> Problem:
    if refused.status == 401:
        return token_refused(address.url, token)
    if refused.status == 0:
        hint = "" if address.tls else ", or it is a hub with TLS, for which you must use wss://"
        return Problem(Code.HUB_UNREACHABLE, f"The server at {address.url} is not a hub{hint}.")
    return Problem(Code.HUB_REFUSED, f"The hub at {address.url} refuses the connection ({refused.status}): {refused}")


def _tls(authority: str | None) -> ssl.SSLContext:
    """Return a client's TLS context that also trusts the certificates in `authority`.

    Raises ProblemError (BAD_ARGUMENT) for a file that contains no certificates or cannot be read.
    """
    context = ssl.create_default_context()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if authority is not None:
        try:
            context.load_verify_locations(authority)
        except ssl.SSLError:
            raise _bad(f'The file "{authority}" (--tls-ca) contains no PEM certificate.') from None
        except OSError as error:
            raise _bad(f'The file "{authority}" (--tls-ca) cannot be read: {tcp.reason(error)}.') from None
    return context
