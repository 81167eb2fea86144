"""Refuses connections of other users of this machine to a loopback port that needs no token.

TCP has no credentials like those of Unix sockets, but Linux lists the sockets of this machine with their owners.
"""

import asyncio
import ipaddress
import logging
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

from raydap import tcp_sockets

log = logging.getLogger("raydap")

ENDED = "its peer has already closed it"

_PROC = Path("/proc/net")


class OwnUserOnly(asyncio.Protocol):
    """Passes a connection to the protocol of `factory` if it may belong to this user, and aborts any other."""

    def __init__(self, factory: Callable[[], asyncio.BaseProtocol]) -> None:
        self._factory = factory

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Check the owner of the connection."""
        assert isinstance(transport, asyncio.Transport)
        reason = refusal(transport.get_extra_info("socket"))
        if reason:
            log.warning("raydap refuses a connection: %s", reason)
            transport.abort()
            return
        protocol = self._factory()
        transport.set_protocol(protocol)
        protocol.connection_made(transport)


def refusal(connection: Any, folder: Path = _PROC) -> str:
    """Return why an accepted connection is refused; "" if it may belong to this user or to root.

    Only connections from a loopback address are checked. Other peers are not programs of this machine: they may be
    outside a container, or outside a virtual machine that forwards its ports. Nothing is checked on a system that does
    not list sockets with their owners, such as macOS.
    """
    try:
        own, peer = connection.getsockname()[:2], connection.getpeername()[:2]
    except OSError:
        return ENDED
    if not _is_loopback(peer[0]):
        return ""
    sockets = tcp_sockets.read(folder)
    if sockets is None:
        return ""
    for each in sockets:
        if (each.host, each.port, each.peer) == (_plain(peer[0]), peer[1], (_plain(own[0]), own[1])):
            return "" if each.uid in (0, os.getuid()) else f"it belongs to the user with the id {each.uid}"
    # Check after reading the list, because the peer may have ended the connection to avoid being listed.
    return "" if _is_established(connection) else ENDED


def _is_established(connection: Any) -> bool:
    """Return whether the connection is still up.

    Source: tcp(7), TCP_INFO; linux/include/net/tcp_states.h. The state is the first byte; 1 is ESTABLISHED.
    """
    state: bytes = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)
    return state[0] == 1


def _is_loopback(host: str) -> bool:
    return ipaddress.ip_address(_plain(host)).is_loopback


def _plain(host: str) -> str:
    """Return the address without an interface, and as IPv4 if it is an IPv4-mapped one."""
    address = ipaddress.ip_address(host.partition("%")[0])
    return str(getattr(address, "ipv4_mapped", None) or address)
