"""The client's side of a pdb of Ray's old debugger: lines of text, and prompts when pdb waits for a line."""

import asyncio
import codecs
import re
import socket
from collections.abc import Callable
from contextlib import suppress

from raydap.bounded_wait import wait_for
from raydap.cluster.legacy.legacy_breakpoints import LegacyBreakpoint
from raydap.cluster.relay.relay_client import RelayClient, RelayFailed
from raydap.inworker import calls, safe_pdb
from raydap.tcp_sockets import is_local_address
from raydap.transport import tcp

CONNECT_TIMEOUT_S = 3.0
"""Seconds for a direct connection, which a firewall may drop silently."""

PROMPT_TIMEOUT_S = 10.0
"""Seconds for the first prompt. pdb serves one client, and a second client waits for the prompt in vain."""

LEAVE_TIMEOUT_S = 2.0
"""Seconds for the `continue` that is sent before the connection ends."""

_PROMPT = re.compile(r"(\(+Pdb\)+|^\(com\)|^\.\.\.|^>>>)[ \t]+\Z", re.MULTILINE)
"""The prompts of pdb itself, of its `debug` and its `commands`, of the second line of a block, and of `interact`.

Output without a line break may precede the first.
"""

_CHUNK = 65536


class NotReached(OSError):
    """The pdb cannot be joined. The text is the reason, for users."""


async def dial(found: LegacyBreakpoint, relay: RelayClient) -> socket.socket:
    """Return a connection to a pdb. Raises NotReached.

    pdb accepts only one client, so pass the connection to a PdbConnection, and call `begin`.
    """
    is_local = is_local_address(found.node)
    if is_local or found.external:
        try:
            return await _dial_directly(found.host, found.port)
        except OSError as error:
            if is_local:
                raise NotReached(f"nothing listens at {found.host}:{found.port} ({tcp.reason(error)})") from None
    try:
        return await relay.open(found.node_id, {"host": found.host, "port": found.port})
    except RelayFailed as error:
        raise NotReached(f"the node {found.node} can be reached only over the relay, which failed: {error}") from None
    except OSError as error:
        raise NotReached(f"nothing listens at port {found.port} of the node {found.node} ({error})") from None


async def _dial_directly(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    connection = socket.socket(family, socket.SOCK_STREAM)
    connection.setblocking(False)
    try:
        connecting = asyncio.get_running_loop().sock_connect(connection, (host, port))
        await tcp.within(CONNECT_TIMEOUT_S, host, connecting)
    except BaseException:
        connection.close()
        raise
    return connection


class PdbConnection:
    """A pdb that has been joined. `leave` must be called. `on_text` gets whole lines of its output."""

    def __init__(self, connection: socket.socket, on_text: Callable[[str], None]) -> None:
        self.prompt = ""
        """The prompt of pdb while it waits for a line, "" while it does not wait."""
        self.is_safe = False
        """Whether the task outlives the connection, however the connection ends (inworker/safe_pdb.py)."""
        self.has_ended = False
        """Whether the connection has ended."""
        self.last = ""
        """The last line that has arrived."""
        self._connection = connection
        self._on_text = on_text
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._unread = ""

    @property
    def has_died(self) -> bool:
        """Whether the process has died: the connection of a safe pdb has ended without one of `safe_pdb.ENDS`."""
        return self.has_ended and self.is_safe and self.last not in safe_pdb.ENDS

    async def begin(self) -> None:
        """Make the pdb safe to leave, and show where it stands. Raises NotReached."""
        shown: list[str] = []
        on_text, self._on_text = self._on_text, shown.append
        try:
            with suppress(asyncio.TimeoutError):
                await wait_for(self._wait_prompt(), PROMPT_TIMEOUT_S)
            if not self.prompt:
                raise NotReached("its pdb does not answer; another client may have joined it")
            count = len(shown)
            await self.ask(calls.safe_pdb())
            self.is_safe = self.prompt != "" and len(shown) == count
        finally:
            self._on_text = on_text
        for line in shown[:count]:
            on_text(line)

    async def ask(self, line: str) -> None:
        """Send a line, and return when pdb waits for the next line or the connection has ended."""
        self.prompt = ""
        try:
            await asyncio.get_running_loop().sock_sendall(self._connection, line.encode("utf-8", "replace") + b"\n")
        except OSError:
            self.has_ended = True
            return
        await self._wait_prompt()

    async def leave(self) -> None:
        """End the connection. The task keeps running."""
        if not self.is_safe and not self.has_ended:
            # Without `continue`, pdb would end the task.
            with suppress(asyncio.TimeoutError):
                await wait_for(self.ask("continue"), LEAVE_TIMEOUT_S)
        self.has_ended = True
        self._connection.close()

    async def _wait_prompt(self) -> None:
        loop = asyncio.get_running_loop()
        while not self.prompt and not self.has_ended:
            try:
                data = await loop.sock_recv(self._connection, _CHUNK)
            except OSError:
                data = b""
            self._take(self._decoder.decode(data, final=not data))
            if not data:
                self.has_ended = True
                self._emit_rest(self._unread)

    def _take(self, text: str) -> None:
        *lines, self._unread = (self._unread + text).replace("\r\n", "\n").split("\n")
        for line in lines:
            self._emit_line(line)
        found = _PROMPT.search(self._unread)
        if found is not None:
            self._emit_rest(self._unread[: found.start()])
            self.prompt, self._unread = found[1], ""

    def _emit_rest(self, text: str) -> None:
        if text:
            self._emit_line(text)

    def _emit_line(self, line: str) -> None:
        self.last = line
        self._on_text(line)
