"""Checks whether a GCS has an entry of Ray's old debugger, in a millisecond and without starting a process.

That is one call of its gRPC service (ray/src/ray/protobuf/gcs_service.proto, InternalKVGcsService.InternalKVKeys).
Ray's own client would have to be imported in a process of its own, which most clusters do not need. An answer in any
other form is an error, and the caller then starts such a process.
"""

import asyncio
from collections.abc import Callable
from typing import Any

TIMEOUT_S = 3.0

_METHOD = "/ray.rpc.InternalKVGcsService/InternalKVKeys"

_PREFIX, _NAMESPACE = b"RAY_PDB_", b"ray_pdb"

# The fields 1 (prefix) and 2 (namespace) of InternalKVKeysRequest. Both are short, so a length is one byte.
_REQUEST = b"\x0a%c%b\x12%c%b" % (len(_PREFIX), _PREFIX, len(_NAMESPACE), _NAMESPACE)

_NONE = (b"", b"\x0a\x00")
"""InternalKVKeysReply without keys. Its field 1, the status, is empty if the call has succeeded."""


class KeysUnknown(Exception):
    """The GCS has not answered, or not in the expected form."""


class GcsKeys:
    """A client of one GCS. Must be closed.

    `find_token` returns Ray's token of this user, None if there is none. Only a GCS that refuses requests without a
    token gets it.
    """

    def __init__(self, address: str, find_token: Callable[[], str | None] = lambda: None) -> None:
        self._address = address
        self._find_token = find_token
        self._channel: Any = None
        self._metadata: tuple[tuple[str, str], ...] = ()
        """The headers of each request: the token, if the GCS requires it."""

    async def has_legacy(self) -> bool:
        """Return whether there is an entry, including entries of workers that have ended. Raises KeysUnknown."""
        try:
            reply: bytes = await asyncio.to_thread(self._ask)
        except Exception as error:
            # grpc comes with Ray, and raises many kinds of exceptions.
            raise KeysUnknown(type(error).__name__) from error
        if reply not in _NONE and _PREFIX not in reply:
            raise KeysUnknown("the answer has an unknown format")
        return _PREFIX in reply

    def close(self) -> None:
        """Close the connection."""
        if self._channel is not None:
            self._channel.close()

    def _ask(self) -> Any:
        import grpc

        if self._channel is None:
            # A proxy of the environment is for the internet only.
            self._channel = grpc.insecure_channel(self._address, [("grpc.enable_http_proxy", 0)])
        try:
            return self._call()
        except grpc.RpcError as error:
            token = self._find_token()
            if token is None or self._metadata or error.code() is not grpc.StatusCode.UNAUTHENTICATED:
                raise
            # ray/_private/authentication/authentication_constants.py
            self._metadata = (("authorization", f"Bearer {token}"),)
            return self._call()

    def _call(self) -> Any:
        return self._channel.unary_unary(_METHOD)(_REQUEST, timeout=TIMEOUT_S, metadata=self._metadata)
