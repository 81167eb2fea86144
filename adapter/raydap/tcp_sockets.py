"""This machine's TCP sockets, as Linux lists them: whether something listens is seen without a connection."""

import socket
import struct
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import IPv6Address
from pathlib import Path

_LISTEN, _ESTABLISHED = "0A", "01"
"""States of a socket (linux/include/net/tcp_states.h)."""

_ANY = ("0.0.0.0", "::")


@dataclass(frozen=True, slots=True)
class TcpSocket:
    """A socket at `host` and `port` of this machine that listens, or else is connected to `peer`. `uid` is its owner's,
    `inode` its number in the system: processes that have it open have a link to `socket:[inode]`."""

    host: str
    port: int
    listens: bool
    uid: int
    peer: tuple[str, int] = field(default=("", 0), compare=False)
    inode: int = field(default=0, compare=False)


def read(folder: Path = Path("/proc/net")) -> list[TcpSocket] | None:
    """All that listen or are connected in this network namespace (proc_net_tcp(5)); None if the system has no list."""
    rows: list[TcpSocket] = []
    known = False
    for name in ("tcp", "tcp6"):
        with suppress(OSError):
            lines = (folder / name).read_text(encoding="ascii").splitlines()[1:]
            rows += (_socket(words) for words in map(str.split, lines) if words[3] in (_LISTEN, _ESTABLISHED))
            known = True
    return rows if known else None


def connected(sockets: Iterable[TcpSocket], host: str, port: int) -> list[TcpSocket]:
    """The ends at this address of the machine of connections that somebody has made to it."""
    return [one for one in sockets if not one.listens and (one.host, one.port) == (host, port)]


def listening(sockets: Iterable[TcpSocket], host: str, port: int) -> TcpSocket | None:
    """The socket that takes connections to this address of the machine. One of the address itself comes first."""
    found = [one for one in sockets if one.listens and one.port == port and one.host in (host, *_ANY)]
    return min(found, key=lambda one: one.host in _ANY, default=None)


def is_local_address(host: str) -> bool:
    """Return whether `host` is a literal address that this machine has, so that only this machine can listen there."""
    try:
        place = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)[0]
        with socket.socket(place[0], place[1]) as probe:
            probe.bind(place[4])
    except OSError:
        return False
    return True


def _socket(words: list[str]) -> TcpSocket:
    host, port = _address(words[1])
    return TcpSocket(host, port, words[3] == _LISTEN, int(words[7]), _address(words[2]), int(words[9]))


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.partition(":")
    return _host(host), int(port, 16)


def _host(text: str) -> str:
    """An address in hex, written in words of 32 bits in the machine's byte order."""
    data = b"".join(struct.pack("=I", int(text[start : start + 8], 16)) for start in range(0, len(text), 8))
    if len(data) == 4:
        return socket.inet_ntoa(data)
    address = IPv6Address(data)
    return str(address.ipv4_mapped or address)
