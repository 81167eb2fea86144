"""The address of a hub as the user writes it, and the connection to it."""

import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from raydap.core.errors import Code, Problem, ProblemError
from raydap.hub import connection
from raydap.transport import handshake, tcp
from raydap.transport.handshake import HandshakeRefused
from raydap.transport.peer import Peer

PATIENCE = 10.0
"""Seconds for the connection to a hub."""

_SCHEMES = {"ws": (True, False), "wss": (True, True), "tcp": (False, False), "tcps": (False, True)}


@dataclass(frozen=True, slots=True)
class Target:
    """`url` is complete; over TCP the token goes into `attach`, over WebSocket it is shown at the handshake."""

    url: str
    host: str
    port: int
    websocket: bool
    tls: bool


def parse(url: str) -> Target:
    """Raises ProblemError (BAD_ARGUMENT) for what is no hub's address."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise _bad(f'"{url}" is no URL: {error}.') from None
    known = _SCHEMES.get(parts.scheme)
    if known is None:
        raise _bad(f'"{url}" does not begin with ws://, wss://, tcp:// or tcps://.')
    websocket, tls = known
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        # Others on the machine see the command line.
        raise _bad("A hub's address holds no token; use --token-file or RAYDAP_TOKEN.")
    if not parts.hostname or not port:
        raise _bad(f'"{url}" has no host and port; write it like {parts.scheme}://127.0.0.1:4711.')
    path = parts.path.rstrip("/")
    if path not in (("", "/dap") if websocket else ("",)):
        raise _bad(f'"{url}" leads to no hub; its path is {"/dap" if websocket else "empty"}.')
    whole = f"{parts.scheme}://{parts.netloc}{'/dap' if websocket else ''}"
    return Target(whole, parts.hostname, port, websocket, tls)


def _bad(text: str) -> ProblemError:
    return ProblemError(Problem(Code.BAD_ARGUMENT, text))


def token_for(target: Target, environ: Mapping[str, str]) -> str | None:
    """That of RAYDAP_TOKEN, else that in the newest connection file for this address."""
    given = environ.get("RAYDAP_TOKEN", "").strip()
    if given:
        return given
    found = connection.newest(target.host, target.port, environ)
    return None if found is None else found.token


async def dial(
    target: Target,
    token: str | None,
    authority: str | None,
    on_message: Callable[[bytes], None],
    on_gone: Callable[[str], None],
) -> Peer:
    """Connects to a hub; `authority` is a file with the certificates to trust besides the system's.

    Raises ProblemError (HUB_UNREACHABLE, HUB_REFUSED, BAD_ARGUMENT); then `on_gone` is not called.
    """
    try:
        context = _tls(authority) if target.tls else None
        if target.websocket:
            return await handshake.dial(target.url, token, on_message, on_gone, PATIENCE, context)
        return await tcp.dial(target.host, target.port, on_message, on_gone, PATIENCE, context, keep=True)
    except HandshakeRefused as refused:
        raise ProblemError(_refused(target, token, refused)) from None
    except ssl.SSLCertVerificationError as error:
        text = f"The hub at {target.url} has a certificate that is not trusted ({error.verify_message}); give --tls-ca."
        raise ProblemError(Problem(Code.HUB_UNREACHABLE, text)) from None
    except (ssl.SSLError, ConnectionResetError) as error:
        if not target.tls:
            raise _unreachable(target, error) from None
        scheme = "ws" if target.websocket else "tcp"
        text = f"What answers at {target.url} does not speak TLS; a hub without --tls-cert is reached by {scheme}://."
        raise ProblemError(Problem(Code.HUB_UNREACHABLE, text)) from None
    except OSError as error:
        raise _unreachable(target, error) from None


def _unreachable(target: Target, error: OSError) -> ProblemError:
    text = f"The hub at {target.url} cannot be reached ({tcp.why(error)}); is it running, and its port forwarded?"
    return ProblemError(Problem(Code.HUB_UNREACHABLE, text))


def token_refused(url: str, token: str | None) -> Problem:
    if token is None:
        text = f"The hub at {url} wants its token; give --token-file or set RAYDAP_TOKEN."
    else:
        text = f"The hub at {url} refuses the token; give the hub's own by --token-file or RAYDAP_TOKEN."
    return Problem(Code.HUB_REFUSED, text)


def _refused(target: Target, token: str | None, refused: HandshakeRefused) -> Problem:
    if refused.status == 401:
        return token_refused(target.url, token)
    if refused.status == 0:
        hint = "" if target.tls else ", or one that speaks TLS, which is reached by wss://"
        return Problem(Code.HUB_UNREACHABLE, f"What answers at {target.url} is no hub{hint}.")
    return Problem(Code.HUB_REFUSED, f"The hub at {target.url} refuses the connection ({refused.status}): {refused}")


def _tls(authority: str | None) -> ssl.SSLContext:
    """Raises ProblemError (BAD_ARGUMENT) for a file that holds no certificates."""
    context = ssl.create_default_context()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if authority is not None:
        try:
            context.load_verify_locations(authority)
        except ssl.SSLError:
            raise _bad(f'The file "{authority}" (--tls-ca) holds no certificate in PEM.') from None
        except OSError as error:
            raise _bad(f'The file "{authority}" (--tls-ca) cannot be read: {tcp.why(error)}.') from None
    return context
