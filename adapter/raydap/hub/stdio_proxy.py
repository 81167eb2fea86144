"""The proxy of `raydap connect`, which forwards messages between an editor on stdio and a hub.

When the hub is gone, the proxy answers the editor's requests itself.
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import raydap
from raydap.errors import Code, Problem, ProblemError
from raydap.hub.hub_address import HubAddress, answers, dial, token_refused
from raydap.protocol.raydap_messages import PROTOCOL, OutputData, ProblemData
from raydap.transport import stdio
from raydap.transport.peer import Peer
from raydap.wire import envelope
from raydap.wire.envelope import Envelope

DISCONNECT_TIMEOUT_S = 5.0
"""Seconds for the editor to send `disconnect` after the hub is gone.

If the adapter exits first, editors report that it has crashed.
"""


async def carry(
    address: HubAddress | None,
    token: str | None,
    authority: str | None,
    problem: Problem | None,
    ended: "asyncio.Future[int]",
    print_line: Callable[[str], None],
) -> int:
    """Act as an adapter on stdio for the hub at `address`, and return the exit code of the process.

    It returns when the editor or the hub is gone, or when `ended` is done. With a `problem` it connects to no hub, and
    reports the problem to the editor. `print_line` writes to standard error, which editors do not show.
    """
    # Over WebSocket the handshake carries the token.
    in_attach = None if address is None or address.websocket else token

    async def hub_answers() -> bool:
        return address is not None and await answers(address, token, authority)

    proxy = StdioProxy("" if address is None else address.url, in_attach, print_line, hub_answers)
    if address is not None and problem is None:
        try:
            proxy.hub = await dial(address, token, authority, proxy.from_hub, proxy.hub_gone)
        except ProblemError as error:
            problem = error.problem
    proxy.problem = problem
    if problem is not None:
        print_line(str(problem))
    if problem is None or not sys.stdin.isatty():
        proxy.editor = stdio.connect(proxy.from_editor, proxy.editor_gone)
        done = asyncio.ensure_future(proxy.wait_ended())
        await asyncio.wait((done, ended), return_when=asyncio.FIRST_COMPLETED)
        done.cancel()
        for peer in (proxy.hub, proxy.editor):
            if peer is not None:
                peer.close()
                await peer.wait_closed()
    if proxy.problem is not problem:
        print_line(str(proxy.problem))
    return 0 if proxy.problem is None else 1


class StdioProxy:
    """Forwards each message between an editor and a hub when it arrives.

    Set `editor`, and either `hub` or `problem`, before messages arrive. `token` is added to `attach` and `launch`,
    unless it is None. `hub_answers` returns whether the hub answers a new connection after this one is lost.
    """

    def __init__(
        self, url: str, token: str | None, print_line: Callable[[str], None], hub_answers: Callable[[], Awaitable[bool]]
    ) -> None:
        self.editor: Peer | None = None
        self.hub: Peer | None = None
        self.problem: Problem | None = None
        """The reason why the session ended, as reported to the user."""
        self._url = url
        self._token = token
        self._print_line = print_line
        self._hub_answers = hub_answers
        self._looking: asyncio.Task[None] | None = None
        self._unanswered: dict[int, str] = {}
        self._seq = 0
        self._terminated = False
        self._disconnected = False
        self._ended = asyncio.Event()

    async def wait_ended(self) -> None:
        """Return when there is nothing left to forward."""
        await self._ended.wait()

    def from_editor(self, data: bytes) -> None:
        """Forward a message of the editor to the hub, or answer it if there is no hub."""
        message = _read(data)
        if message is not None and message.type == "request":
            if self.hub is None and (self._looking is None or message.command == "disconnect"):
                self._answer_without_hub(message)
                return
            self._unanswered[message.seq] = message.command
            if message.command in ("attach", "launch"):
                data = self._with_token(message, data)
        if self.hub is not None:
            self.hub.send(data)

    def from_hub(self, data: bytes) -> None:
        """Forward a message of the hub to the editor."""
        message = _read(data)
        command = ""
        if message is not None:
            self._seq = message.seq
            if message.type == "response":
                command = self._unanswered.pop(message.request_seq, "")
                self._note_answer(command, message)
            self._terminated = self._terminated or message.event == "terminated"
        self._to_editor(data)
        if message is not None and command == "initialize" and message.success:
            self._compare_versions(message)

    def editor_gone(self, reason: str) -> None:
        """End, because the editor's connection has ended."""
        self._ended.set()

    def hub_gone(self, reason: str) -> None:
        """Answer all open requests, and report the loss to the editor unless the hub had ended the session."""
        self.hub = None
        leaving = self._disconnected or "disconnect" in self._unanswered.values()
        if leaving or self._terminated:
            self._end(_lost(self._url, reason, answers=False))
        else:
            self._looking = asyncio.ensure_future(self._look(reason))

    async def _look(self, reason: str) -> None:
        """Check whether the hub still answers, then report the loss.

        The report states whether the user can start again, which requires a hub that answers. Until then, the requests
        of the editor wait.
        """
        answers = await self._hub_answers()
        self._looking = None
        self._end(_lost(self._url, reason, answers))

    def _end(self, problem: Problem) -> None:
        if not self._disconnected:
            # After `disconnect` an editor expects no answers: dap-mode would show these as errors.
            self._answer_all(problem)
        if self._disconnected:
            self._ended.set()
            return
        if not self._terminated:
            self.problem = problem
            self._event(self._next_seq(), "output", _output(problem))
            self._event(self._next_seq(), "terminated", {})
        self._end_soon()

    def _answer_all(self, problem: Problem) -> None:
        for seq, command in self._unanswered.items():
            if command == "disconnect":
                self._answer_disconnect(seq)
            else:
                self._fail(seq, command, problem)
        self._unanswered.clear()

    def _note_answer(self, command: str, answer: Envelope) -> None:
        if command == "disconnect":
            self._disconnected = True
        elif command in ("attach", "launch") and not answer.success and _error_code(answer) == Code.NOT_ADMITTED:
            self.problem = token_refused(self._url, self._token)

    def _compare_versions(self, answer: Envelope) -> None:
        """Report which side is older if the hub speaks another version of the protocol. The session continues."""
        problem = _version_problem(self._url, _server(answer))
        if problem is not None:
            self._print_line(str(problem))
            # The hub numbers its messages from 1, so 0 is free.
            self._event(0, "output", _output(problem))

    def _with_token(self, message: Envelope, data: bytes) -> bytes:
        """Return the message with the token added, unless the editor sends a `token` itself."""
        if self._token is None:
            return data
        try:
            arguments = envelope.load(message.arguments or b"{}")
        except envelope.EnvelopeError:
            return data
        if not isinstance(arguments, dict):
            return data
        return envelope.request(message.seq, message.command, envelope.dump({"token": self._token, **arguments}))

    # Without a hub.

    def _answer_without_hub(self, request: Envelope) -> None:
        if request.command == "disconnect":
            self._answer_disconnect(request.seq)
        else:
            text = "The hub ended the session; `raydap status` shows whether the hub still runs."
            self._fail(request.seq, request.command, self.problem or Problem(Code.HUB_LOST, text))
            self._end_soon()

    def _answer_disconnect(self, seq: int) -> None:
        self._to_editor(envelope.response(self._next_seq(), seq, "disconnect"))
        self._disconnected = True
        self._ended.set()

    def _fail(self, seq: int, command: str, problem: Problem) -> None:
        body = envelope.dump(problem.body())
        self._to_editor(envelope.failure(self._next_seq(), seq, command, str(problem), body))

    def _event(self, seq: int, name: str, body: dict[str, Any]) -> None:
        self._to_editor(envelope.event(seq, name, envelope.dump(body)))

    def _to_editor(self, data: bytes) -> None:
        if self.editor is not None:
            self.editor.send(data)

    def _next_seq(self) -> int:
        self._seq += 1
        return self._seq

    def _end_soon(self) -> None:
        asyncio.get_running_loop().call_later(DISCONNECT_TIMEOUT_S, self._ended.set)


def _lost(url: str, reason: str, answers: bool) -> Problem:
    if answers:
        text = f"The connection to the hub at {url} is lost ({reason}), but the hub still runs; "
        text += "start the session again to continue."
    else:
        text = (
            f"The hub at {url} no longer answers ({reason}): it has ended, or its port is no longer forwarded; "
            "run `raydap status` on its machine."
        )
    return Problem(Code.HUB_LOST, text)


def _output(problem: Problem) -> dict[str, Any]:
    """Return the body of an `output` event that reports a problem."""
    data = OutputData(raydap=ProblemData(code=problem.code.value))
    return {"category": "important", "output": f"{problem}\n", "data": data}


def _version_problem(url: str, server: dict[str, Any]) -> Problem | None:
    """Return the problem if the hub speaks another version of the protocol, else None.

    `server` is the hub's raydap_messages.Server. A hub older than that type sends none, so `server` is {}.
    """
    protocol = server.get("protocol")
    if protocol == PROTOCOL:
        return None
    version = f" ({server['version']})" if isinstance(server.get("version"), str) else ""
    if isinstance(protocol, int) and protocol > PROTOCOL:
        older, where = f"This raydap ({raydap.__version__}) is older than the hub at {url}{version}", "here"
    else:
        older = f"The hub at {url}{version} is older than this raydap ({raydap.__version__})"
        where = "where the hub runs, and start the hub again"
    return Problem(Code.HUB_VERSION, f"{older}; run `pip install --upgrade raydap` {where}.")


def _read(data: bytes) -> Envelope | None:
    """Return the message, None for bytes that are no DAP message: the receiver reports those."""
    try:
        return envelope.read(data)
    except envelope.EnvelopeError:
        return None


def _body(answer: Envelope) -> dict[str, Any]:
    try:
        body = envelope.load(answer.body or b"{}")
    except envelope.EnvelopeError:
        return {}
    return body if isinstance(body, dict) else {}


def _error_code(answer: Envelope) -> object:
    """Return the error number of a failed response (spec: ErrorResponse), None without one."""
    error = _body(answer).get("error")
    return error.get("id") if isinstance(error, dict) else None


def _server(answer: Envelope) -> dict[str, Any]:
    """Return the field `raydap` of the answer to `initialize` (raydap_messages.Server), {} without one."""
    server = _body(answer).get("raydap")
    return server if isinstance(server, dict) else {}
