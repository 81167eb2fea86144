"""The TCP sockets of this machine, as Linux lists them.

The list shows whether a process listens at a port, without a connection to that port.
"""

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
    """A socket that listens or is connected."""

    host: str
    """The socket's address on this machine; `0.0.0.0` or `::` if it listens at all addresses."""
    port: int
    """The socket's port on this machine."""
    listens: bool
    """Whether it listens. Otherwise it is connected to `peer`."""
    uid: int
    """The user id of its owner."""
    peer: tuple[str, int] = field(default=("", 0), compare=False)
    """The address of the other end, if it is connected."""
    inode: int = field(default=0, compare=False)
    """Its number in the system. A process that has it open has a link to `socket:[inode]`."""


def read(folder: Path = Path("/proc/net")) -> list[TcpSocket] | None:
    """Return the listening and connected sockets of this network namespace (proc_net_tcp(5)).

    Return None if the system has no such list.
    """
    rows: list[TcpSocket] = []
    known = False
    for name in ("tcp", "tcp6"):
        with suppress(OSError):
            lines = (folder / name).read_text(encoding="ascii").splitlines()[1:]
            rows += (_socket(words) for words in map(str.split, lines) if words[3] in (_LISTEN, _ESTABLISHED))
            known = True
    return rows if known else None


def connected(sockets: Iterable[TcpSocket], host: str, port: int) -> list[TcpSocket]:
    """Return the local ends of the connections to this address of the machine."""
    return [one for one in sockets if not one.listens and (one.host, one.port) == (host, port)]


def listening(sockets: Iterable[TcpSocket], host: str, port: int) -> TcpSocket | None:
    """Return the socket that accepts connections to this address of the machine, None if there is none.

    A socket of the address itself is preferred to a socket that listens at all addresses.
    """
    found = [one for one in sockets if one.listens and one.port == port and one.host in (host, *_ANY)]
    return min(found, key=lambda one: one.host in _ANY, default=None)


def is_local_address(host: str) -> bool:
    """Return whether `host` is a literal address of this machine, so that no other machine can listen there."""
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
    """Return an address that is given in hex, as words of 32 bits in the machine's byte order."""
    data = b"".join(struct.pack("=I", int(text[start : start + 8], 16)) for start in range(0, len(text), 8))
    if len(data) == 4:
        return socket.inet_ntoa(data)
    address = IPv6Address(data)
    return str(address.ipv4_mapped or address)
