"""The hub as a server: it checks its options, listens, and serves until it is ended."""

import asyncio
import os
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from raydap.core.settings import HubSettings
from raydap.hub import connection_file
from raydap.hub.acceptor import Acceptor
from raydap.hub.connection_file import ConnectionInfo
from raydap.hub.hub_token import TokenVerifier
from raydap.runtime.engine import Engine
from raydap.transport import runtime_folder, tcp


class StartRefused(Exception):
    """The hub does not start. The text is one sentence with what to do."""


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """How the hub serves: the options of `raydap serve`."""

    host: str
    """The address to listen on."""
    port: int
    """The port to listen on. With 0 the system chooses one."""
    hub_settings: HubSettings
    """The settings with which the hub's bridge runs."""
    digest: str | None
    """The digest of the token that clients must send, None if they need no token."""
    token: str | None = None
    """The token for the connection file, None if only its digest is known."""
    has_own_token: bool = False
    """Whether `token` was made for this hub, so that the user has not seen it."""
    print_token: bool = False
    """Whether to print `token`: only if a person reads the output, so that no log contains it."""
    write_connection_file: bool = True
    """Whether to write a connection file, through which this user's clients find the hub."""
    connection_file: Path | None = None
    """The path of the connection file, None for one in the user's runtime folder."""
    names: tuple[str, ...] = ()
    """Names that a Host header may contain, in addition to `host`."""
    once: bool = False
    """Whether the hub ends when the last client has left."""
    tls: ssl.SSLContext | None = None
    """The hub's certificate and key; None to serve without TLS."""


def tls_context(certificate: str, key: str) -> ssl.SSLContext:
    """Return a context for TLS 1.2 or later, with a certificate and its key (PEM). Raises StartRefused."""
    for option, path in (("--tls-cert", certificate), ("--tls-key", key)):
        try:
            with open(path, "rb"):
                pass
        except OSError as error:
            raise StartRefused(f'The file "{path}" ({option}) cannot be read: {error.strerror}.') from None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        # Without a password here, OpenSSL would prompt for one on the terminal.
        context.load_cert_chain(certificate, key, password="")
    except (ssl.SSLError, ValueError) as error:
        reason = getattr(error, "reason", None) or str(error)
        text = f'"{certificate}" and "{key}" are not a certificate and its unencrypted key, both in PEM ({reason}).'
        raise StartRefused(text) from None
    return context


def check(options: ServerOptions) -> list[str]:
    """Return warnings for the user. Raises StartRefused if the hub would listen on the network without a token."""
    if is_loopback(options.host):
        return []
    if options.digest is None:
        raise StartRefused(
            f"Without a token raydap listens only on loopback, not on {options.host}, because every client can run "
            "code in all workers."
        )
    if options.tls is None:
        return [f"warning: without TLS the token and all data cross the network to {options.host} unencrypted."]
    return []


def is_loopback(host: str) -> bool:
    """Return whether `host` is certainly loopback. A name other than localhost may lead anywhere."""
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


async def serve(options: ServerOptions, ended: "asyncio.Future[int]", print_line: Callable[[str], None]) -> None:
    """Serve until `ended` or, with `once`, until the last client has left; then detach from every worker.

    `print_line` prints a line for the user. Raises StartRefused if the options are refused, the hub cannot listen, or
    the connection file cannot be written.
    """
    for warning in check(options):
        print_line(warning)
    engine = Engine(options.hub_settings)
    try:
        await _serve(options, engine, ended, print_line)
    finally:
        await engine.close()


async def _serve(
    options: ServerOptions, engine: Engine, ended: "asyncio.Future[int]", print_line: Callable[[str], None]
) -> None:
    names = (options.host, *options.names)
    acceptor = Acceptor(engine.clients, TokenVerifier(options.digest), names, options.tls)
    try:
        listener = await tcp.listen(options.host, options.port, acceptor.protocol, own_user_only=options.digest is None)
    except (OSError, UnicodeError) as error:
        reason = tcp.reason(error) if isinstance(error, OSError) else "it is not a valid host name"
        text = f"raydap cannot listen on {options.host}:{options.port}: {reason}; choose another address."
        raise StartRefused(text) from None
    host = f"[{listener.host}]" if ":" in listener.host else listener.host
    info = ConnectionInfo(
        host=connection_file.reachable(listener.host),
        port=listener.port,
        tls=options.tls is not None,
        token=options.token,
        pid=os.getpid(),
        dashboard=options.hub_settings.settings.dashboard,
    )
    path = None
    try:
        path = _write(info, options.connection_file) if options.write_connection_file else None
        print_line(f"raydap serving on {host}:{listener.port}")
        if options.has_own_token:
            if options.print_token:
                print_line(f"token: {options.token}")
            print_line(f"connection file: {path}")
        print_line(_connect_command(options, info))
        left = asyncio.ensure_future(acceptor.wait_left())
        await asyncio.wait((ended, left) if options.once else (ended,), return_when=asyncio.FIRST_COMPLETED)
        left.cancel()
    finally:
        listener.close()
        await acceptor.close()
        if path is not None:
            connection_file.remove(path, info)


def _connect_command(options: ServerOptions, info: ConnectionInfo) -> str:
    """Return the command for editors that start a program, followed by a shell comment about the token."""
    command = f"raydap connect {info.url}"
    if options.digest is None:
        return command
    if options.token is not None and options.connection_file is None:
        return f"{command}    # for your editor; the command finds the token in the connection file"
    return f"{command} --token-file FILE    # for your editor; the token is the first line of FILE"


def _write(info: ConnectionInfo, path: Path | None) -> Path:
    try:
        return connection_file.write(info, path)
    except OSError as error:
        name = path or error.filename or runtime_folder.directory()
        text = f'The connection file "{name}" cannot be written: {error.strerror}; '
        raise StartRefused(f"{text}choose another path with --connection-file.") from None
