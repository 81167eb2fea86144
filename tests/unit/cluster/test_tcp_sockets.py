"""The list of this machine's TCP sockets, compared with real sockets."""

import os
import socket
from pathlib import Path

import pytest

from raydap import tcp_sockets
from raydap.tcp_sockets import TcpSocket

pytestmark = pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="this system does not list its sockets")


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0", "::1", "::"])
def test_a_socket_listens_until_it_is_closed(host: str) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as bound:
        bound.bind((host, 0))
        port = bound.getsockname()[1]
        own = "::1" if ":" in host else "127.0.0.1"
        assert tcp_sockets.listening(tcp_sockets.read() or (), own, port) is None
        bound.listen()
        assert tcp_sockets.listening(tcp_sockets.read() or (), own, port) == TcpSocket(host, port, True, os.getuid())


def test_connections_are_listed() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)) as client, server.accept()[0]:
            sockets = tcp_sockets.read() or []
            ends = tcp_sockets.connected(sockets, "127.0.0.1", port)
            assert ends == [TcpSocket("127.0.0.1", port, False, os.getuid())]
            (other,) = [one for one in sockets if (one.host, one.port) == ends[0].peer]
            assert other.peer == ("127.0.0.1", port)
            assert other.inode == os.fstat(client.fileno()).st_ino
            assert tcp_sockets.connected(sockets, "127.0.0.2", port) == []


def test_a_mapped_address_is_the_one_it_means() -> None:
    with socket.socket(socket.AF_INET6) as bound:
        bound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        bound.bind(("::ffff:127.0.0.1", 0))
        bound.listen()
        assert tcp_sockets.listening(tcp_sockets.read() or (), "127.0.0.1", bound.getsockname()[1]) is not None


def test_the_socket_of_the_address_comes_before_that_of_all_addresses() -> None:
    wide, own = TcpSocket("0.0.0.0", 1, True, 0), TcpSocket("127.0.0.1", 1, True, 7)
    assert tcp_sockets.listening([wide, own], "127.0.0.1", 1) is own
    assert tcp_sockets.listening([wide, own], "127.0.0.2", 1) is wide


def test_a_system_without_the_list_is_not_one_without_sockets(tmp_path: Path) -> None:
    assert tcp_sockets.read(tmp_path) is None
