"""The connection of one LSP client: checks each message, and passes it on to pygls."""

import asyncio
import json
import logging
from collections.abc import Callable
from typing import Any

from lsprotocol.types import ErrorCodes

from raydap.lsp.language_server import ClosingProtocol, RaydapLanguageServer
from raydap.lsp.tolerant_framing import TolerantDecoder
from raydap.transport.peer import Peer

logger = logging.getLogger(__name__)

Connect = Callable[[Callable[[bytes], None], Callable[[str], None], TolerantDecoder], Peer]
"""Makes the peer of a connection from the peer's `on_message`, `on_gone` and decoder."""


class Connection:
    """The connection of one client. Malformed requests get an answer, too (JSON-RPC 2.0, 5.1)."""

    def __init__(self, connect: Connect) -> None:
        self.ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        """Completes at the end of the connection, with the exit code for a server that has only this client."""
        self._server = RaydapLanguageServer()
        protocol = self._server.protocol
        assert isinstance(protocol, ClosingProtocol)
        self._protocol = protocol
        self._initialized = False
        self.peer = connect(self._on_message, self._on_gone, TolerantDecoder())
        protocol.set_writer(self, include_headers=False)

    # pygls uses the next two methods as those of its writer.

    def write(self, body: bytes) -> None:
        """Send the JSON of one message to the client."""
        self.peer.send(body)

    def close(self) -> None:
        """Close the connection and the client's documents."""
        self.peer.close()
        self._end()

    def _on_message(self, body: bytes) -> None:
        try:
            message = json.loads(body)
        except (ValueError, RecursionError):
            self._fail(None, ErrorCodes.ParseError, "The message is not valid JSON.")
            return
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            self._fail(None, ErrorCodes.InvalidRequest, "The message is not a JSON-RPC 2.0 message.")
            return
        method, seq = message.get("method"), message.get("id")
        if "id" in message and ("method" in message or not {"result", "error"} & message.keys()):
            if not isinstance(method, str) or not isinstance(seq, (int, str)):
                self._fail(None, ErrorCodes.InvalidRequest, "A request needs a method, and an id: a number or string.")
                return
            if not self._initialized and method != "initialize":
                self._fail(seq, ErrorCodes.ServerNotInitialized, "The first request must be `initialize`.")
                return
            if self._initialized and method == "initialize":
                self._fail(seq, ErrorCodes.InvalidRequest, "`initialize` has already been sent.")
                return
        elif not self._initialized and method != "exit":
            return
        self._handle(message, method, seq)

    def _handle(self, message: dict[str, Any], method: object, seq: object) -> None:
        try:
            structured = self._protocol.structure_message(message)
        except Exception as error:
            # pygls raises exceptions of its own for parameters with wrong types, and any others for other mistakes.
            logger.info("language server: %s cannot be read: %r", method, error)
            if "id" in message and method is not None:
                self._fail(seq, ErrorCodes.InvalidParams, f"The parameters of {method} do not match LSP.")
            return
        if "id" in message and not hasattr(structured, "id"):
            self._fail(seq, ErrorCodes.InvalidRequest, f"{method} is a notification and must not have an id.")
            return
        self._initialized = self._initialized or method == "initialize"
        try:
            self._protocol.handle_message(structured)
        except Exception:
            logger.exception("language server: %s failed", method)
            if "id" in message:
                self._fail(seq, ErrorCodes.InternalError, f"{method} failed; see the log.")

    def _on_gone(self, reason: str) -> None:
        self._end()

    def _end(self) -> None:
        self._server.close()
        if not self.ended.done():
            code = self._protocol.exited
            self.ended.set_result(0 if code is None else code)

    def _fail(self, seq: object, code: ErrorCodes, text: str) -> None:
        error = {"code": code.value, "message": text}
        self.peer.send(json.dumps({"jsonrpc": "2.0", "id": seq, "error": error}).encode())
