"""Connection files, which contain the addresses and tokens of this user's hubs, like those of Jupyter.

There is one file for each hub, in a folder that only the user can enter. A hub removes its file when it ends.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from raydap import safe_files
from raydap.transport import runtime_folder

_WILDCARDS = {"0.0.0.0": "127.0.0.1", "::": "::1"}
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class ConnectionInfo(msgspec.Struct, frozen=True):
    """The content of one connection file."""

    host: str
    """The host at which this machine reaches the hub."""
    port: int
    """The port at `host` on which the hub listens."""
    tls: bool
    """Whether the hub requires TLS."""
    token: str | None
    """None if the hub requires no token, or if the token is not known."""
    pid: int
    """The hub's process, 0 for a hub on another machine."""
    dashboard: str | None = None
    """The cluster that the hub was started for, None if its first client chooses one."""

    @property
    def url(self) -> str:
        """The hub's URL, as `raydap connect` takes it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'wss' if self.tls else 'ws'}://{host}:{self.port}/dap"


def reachable(host: str) -> str:
    """Return the address at which this machine reaches a server that listens on `host`."""
    return _WILDCARDS.get(host, host)


def write(connection: ConnectionInfo, path: Path | None = None, environ: Mapping[str, str] = os.environ) -> Path:
    """Write the file completely or not at all, and return its path. Raises OSError.

    The default path is in `runtime_folder.directory()`. Only the owner can read the file. A symbolic link at `path` is
    replaced, not followed.
    """
    if path is None:
        path = runtime_folder.directory(environ) / f"hub-{connection.pid}-{connection.port}.json"
    safe_files.replace(str(path), msgspec.json.format(msgspec.json.encode(connection), indent=2) + b"\n", 0o600)
    return path


def read(path: Path) -> ConnectionInfo:
    """Return the content of a connection file. Raises OSError, and ValueError for any other file."""
    return msgspec.json.decode(safe_files.read_regular(str(path)), type=ConnectionInfo)


def remove(path: Path, connection: ConnectionInfo) -> None:
    """Remove the file, unless another hub has replaced it."""
    with suppress(OSError, ValueError):
        if read(path) == connection:
            path.unlink()


def newest(
    host: str | None = None, port: int | None = None, environ: Mapping[str, str] = os.environ
) -> ConnectionInfo | None:
    """Return the hub that was started last, None if there is none. Hubs whose process has ended are left out.

    With `host` or `port`, only hubs at that address count.
    """
    for connection in all_hubs(environ):
        if (host is None or _is_same_host(host, connection.host)) and port in (None, connection.port):
            return connection
    return None


def all_hubs(environ: Mapping[str, str] = os.environ) -> list[ConnectionInfo]:
    """Return all hubs, the newest first. Hubs whose process has ended are left out."""
    found = sorted(_all(environ), key=lambda one: one[0], reverse=True)
    return [connection for _, connection in found if _is_alive(connection.pid)]


def _all(environ: Mapping[str, str]) -> Iterator[tuple[int, ConnectionInfo]]:
    with suppress(OSError):
        for path in runtime_folder.directory(environ).glob("*.json"):
            with suppress(OSError, ValueError):
                yield path.stat().st_mtime_ns, read(path)


def _is_same_host(one: str, other: str) -> bool:
    return one.lower() == other.lower() or (one.lower() in _LOOPBACK and other.lower() in _LOOPBACK)


def _is_alive(pid: int) -> bool:
    if pid <= 0:
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
