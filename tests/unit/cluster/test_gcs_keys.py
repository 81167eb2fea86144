"""Whether a GCS has entries of Ray's old debugger. tests/ray/test_legacy_breakpoints.py uses a real GCS."""

import asyncio
from collections.abc import Callable, Iterator
from concurrent import futures
from typing import Any

import grpc
import pytest

from raydap.cluster.ray_process import gcs_keys
from raydap.cluster.ray_process.gcs_keys import GcsKeys, KeysUnknown

Serve = Callable[[bytes], str]


class Service(grpc.GenericRpcHandler):  # type: ignore[misc]
    """A GCS that keeps each request and always sends the same reply."""

    def __init__(self, reply: bytes) -> None:
        self._reply = reply
        self.requests: list[bytes] = []

    def service(self, details: Any) -> Any:
        if details.method != "/ray.rpc.InternalKVGcsService/InternalKVKeys":
            return None
        return grpc.unary_unary_rpc_method_handler(self._answer)

    def _answer(self, request: bytes, context: Any) -> bytes:
        self.requests.append(request)
        return self._reply


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Yield `serve(reply)`, which returns the address of a GCS that sends this reply."""
    servers = []

    def start(reply: bytes) -> str:
        server = grpc.server(futures.ThreadPoolExecutor(1), handlers=[Service(reply)])
        servers.append(server)
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        return f"127.0.0.1:{port}"

    yield start
    for server in servers:
        server.stop(None).wait()


async def ask(address: str, times: int = 1) -> list[bool]:
    keys = GcsKeys(address)
    try:
        return [await keys.has_legacy() for _ in range(times)]
    finally:
        keys.close()


@pytest.mark.parametrize(
    ("reply", "expected"),
    [(b"\n\x00", False), (b"", False), (b"\n\x00\x12\x0eRAY_PDB_012345\x12\x0eRAY_PDB_012346", True)],
)
def test_what_the_gcs_says(serve: Serve, reply: bytes, expected: bool) -> None:
    assert asyncio.run(ask(serve(reply), times=3)) == [expected] * 3


@pytest.mark.parametrize("reply", [b"\n\x02\x08\x05", b"nonsense"])
def test_another_answer_says_nothing(serve: Serve, reply: bytes) -> None:
    with pytest.raises(KeysUnknown):
        asyncio.run(ask(serve(reply)))


def test_what_does_not_answer_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gcs_keys, "TIMEOUT_S", 0.5)
    with pytest.raises(KeysUnknown):
        asyncio.run(ask("127.0.0.1:1"))


def test_the_request_is_a_message_of_protocol_buffers() -> None:
    assert gcs_keys._REQUEST == b"\n\x08RAY_PDB_\x12\x07ray_pdb"
