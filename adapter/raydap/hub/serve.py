"""The hub as a server: what is refused before it listens, and its life from then on."""

import asyncio
import logging
import os
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from raydap.core.settings import Hosting
from raydap.hub import connection
from raydap.hub.connection import Connection
from raydap.hub.door import Door
from raydap.hub.tokens import Guard
from raydap.runtime.engine import Engine
from raydap.transport import tcp

log = logging.getLogger("raydap")


class Refused(Exception):
    """The hub does not start; the text is one sentence with what to do."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What the hub is to do. `digest` is that of the token that it wants, None for none.

    `token`: what the connection file says; `told`: the token was made for this hub, so nobody else knows it yet.
    `published`: whether there is a connection file; without `connection_file` it is in the user's runtime folder.
    `names` are Host names besides those of `host`; `once`: end when the last client has left.
    """

    host: str
    port: int
    hosting: Hosting
    digest: str | None
    token: str | None = None
    told: bool = False
    published: bool = True
    connection_file: Path | None = None
    names: tuple[str, ...] = ()
    once: bool = False
    tls: ssl.SSLContext | None = None


def tls_context(certificate: str, key: str) -> ssl.SSLContext:
    """TLS 1.2 or later, with the files of `--tls-cert` and `--tls-key` (PEM). Raises Refused."""
    for option, path in (("--tls-cert", certificate), ("--tls-key", key)):
        try:
            with open(path, "rb"):
                pass
        except OSError as error:
            raise Refused(f'The file "{path}" ({option}) cannot be read: {error.strerror}.') from None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        # The password is asked for on the terminal unless one is given.
        context.load_cert_chain(certificate, key, password="")
    except (ssl.SSLError, ValueError) as error:
        reason = getattr(error, "reason", None) or str(error)
        text = f'"{certificate}" and "{key}" are no certificate with its unencrypted key in PEM ({reason}).'
        raise Refused(text) from None
    return context


def check(terms: Terms) -> list[str]:
    """Warnings for the user. Raises Refused for an address of the network without a token."""
    if is_loopback(terms.host):
        return []
    if terms.digest is None:
        raise Refused(
            f"Without a token raydap listens on loopback only, not on {terms.host}: whoever connects can run code in "
            "every worker."
        )
    if terms.tls is None:
        return [f"warning: without TLS the token and all data cross the network to {terms.host} in the clear."]
    return []


def is_loopback(host: str) -> bool:
    """Only what is surely loopback: names other than localhost may lead anywhere."""
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


async def serve(terms: Terms, ended: "asyncio.Future[None]", say: Callable[[str], None]) -> None:
    """Serves until `ended` or, with `once`, until the last client has left; then every worker is let go.

    `say` gets lines for the user. Raises Refused, before anything listens or when the address cannot be used.
    """
    for warning in check(terms):
        say(warning)
    engine = Engine(terms.hosting)
    try:
        await _serve(terms, engine, ended, say)
    finally:
        await engine.close()


async def _serve(terms: Terms, engine: Engine, ended: "asyncio.Future[None]", say: Callable[[str], None]) -> None:
    door = Door(engine, Guard(terms.digest), (terms.host, *terms.names))
    try:
        listener = await tcp.listen(terms.host, terms.port, door.knock, terms.tls)
    except (OSError, UnicodeError) as error:
        reason = tcp.why(error) if isinstance(error, OSError) else "it is no name of a host"
        text = f"raydap cannot listen on {terms.host}:{terms.port}: {reason}; choose another address."
        raise Refused(text) from None
    host = f"[{listener.host}]" if ":" in listener.host else listener.host
    here = Connection(
        host=connection.reachable(listener.host),
        port=listener.port,
        tls=terms.tls is not None,
        token=terms.token,
        pid=os.getpid(),
        dashboard=terms.hosting.settings.dashboard,
    )
    path = None
    try:
        path = _write(here, terms.connection_file) if terms.published else None
        say(f"raydap serving on {host}:{listener.port}")
        if terms.told:
            say(f"token: {terms.token}")
            say(f"connection file: {path}")
        left = asyncio.ensure_future(door.wait_left())
        await asyncio.wait((ended, left) if terms.once else (ended,), return_when=asyncio.FIRST_COMPLETED)
        left.cancel()
    finally:
        listener.close()
        if path is not None:
            connection.remove(path, here)


def _write(here: Connection, path: Path | None) -> Path:
    try:
        return connection.write(here, path)
    except OSError as error:
        name = path or error.filename
        raise Refused(f'The connection file "{name}" cannot be written: {error.strerror}; name another.') from None
