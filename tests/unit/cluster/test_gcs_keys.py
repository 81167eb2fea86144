"""Whether a GCS has entries of Ray's old debugger. tests/ray/test_legacy_breakpoints.py uses a real GCS."""

import asyncio
from collections.abc import Callable, Iterator
from concurrent import futures
from typing import Any

import grpc
import pytest

from raydap.cluster.ray_process import gcs_keys
from raydap.cluster.ray_process.gcs_keys import GcsKeys, KeysUnknown

Serve = Callable[..., str]


class Service(grpc.GenericRpcHandler):  # type: ignore[misc]
    """A GCS that always sends the same reply. With `token`, it refuses requests without it.

    `tokens` are the headers of all requests that could contain the token.
    """

    def __init__(self, reply: bytes, token: str | None = None) -> None:
        self._reply = reply
        self._token = token
        self.tokens: list[Any] = []

    def service(self, details: Any) -> Any:
        if details.method != "/ray.rpc.InternalKVGcsService/InternalKVKeys":
            return None
        return grpc.unary_unary_rpc_method_handler(self._answer)

    def _answer(self, request: bytes, context: Any) -> bytes:
        sent = dict(context.invocation_metadata()).get("authorization")
        self.tokens.append(sent)
        if self._token is not None and sent != f"Bearer {self._token}":
            context.abort(grpc.StatusCode.UNAUTHENTICATED, "InvalidAuthToken")
        return self._reply


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Yield `serve(reply)`, which returns the address of a GCS that sends this reply. It can get a Service, too."""
    servers = []

    def start(reply: bytes | Service) -> str:
        service = reply if isinstance(reply, Service) else Service(reply)
        server = grpc.server(futures.ThreadPoolExecutor(1), handlers=[service])
        servers.append(server)
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        return f"127.0.0.1:{port}"

    yield start
    for server in servers:
        server.stop(None).wait()


async def ask(address: str, times: int = 1, token: str = "") -> list[bool]:
    keys = GcsKeys(address, lambda: token or None)
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


def test_the_token_is_sent_only_to_a_gcs_that_requires_it(serve: Serve) -> None:
    secret, free = Service(b"\n\x00", "secret"), Service(b"\n\x00")
    assert asyncio.run(ask(serve(secret), times=2, token="secret")) == [False, False]
    assert secret.tokens == [None, "Bearer secret", "Bearer secret"]
    assert asyncio.run(ask(serve(free), token="secret")) == [False]
    assert free.tokens == [None]


@pytest.mark.parametrize("token", ["", "wrong"])
def test_a_gcs_that_refuses_the_token_says_nothing(serve: Serve, token: str) -> None:
    service = Service(b"\n\x00", "secret")
    with pytest.raises(KeysUnknown):
        asyncio.run(ask(serve(service), token=token))
    assert len(service.tokens) == 1 + bool(token)


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
