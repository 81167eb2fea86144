"""Between an editor on stdio and a hub: carries messages both ways, and stands in for the hub when that is gone."""

import asyncio
import sys
from collections.abc import Callable

from raydap.core.errors import Code, Problem, ProblemError
from raydap.hub.target import Target, dial, token_refused
from raydap.transport import stdio
from raydap.transport.peer import Peer
from raydap.wire import envelope
from raydap.wire.envelope import Envelope

FAREWELL = 5.0
"""Seconds for an editor to take its leave when the hub is gone. One whose adapter just ends calls that a crash."""


async def carry(
    target: Target | None,
    token: str | None,
    authority: str | None,
    problem: Problem | None,
    ended: "asyncio.Future[None]",
    say: Callable[[str], None],
) -> int:
    """Makes this process an adapter on stdio for the hub at `target`, until one of the two goes or until `ended`.

    With a `problem` there is no hub to go to, and the editor is told so: editors show no standard error, which `say`
    writes to. Returns the exit code.
    """
    link = Link("" if target is None else target.url, None if target is None or target.websocket else token)
    if target is not None and problem is None:
        try:
            link.hub = await dial(target, token, authority, link.from_hub, link.hub_gone)
        except ProblemError as error:
            problem = error.problem
    link.problem = problem
    if problem is not None:
        say(str(problem))
    if problem is None or not sys.stdin.isatty():
        link.editor = stdio.connect(link.from_editor, link.editor_gone)
        over = asyncio.ensure_future(link.wait_ended())
        await asyncio.wait((over, ended), return_when=asyncio.FIRST_COMPLETED)
        over.cancel()
        for peer in (link.hub, link.editor):
            if peer is not None:
                peer.close()
                await peer.wait_closed()
    if link.problem is not problem:
        say(str(link.problem))
    return 0 if link.problem is None else 1


class Link:
    """`token` is put into `attach` and `launch`; None where the hub has been shown it in another way.

    It wants its `editor`, and a `hub` or a `problem`, before messages come. `problem` is what the user has been told.
    """

    def __init__(self, url: str, token: str | None) -> None:
        self.editor: Peer | None = None
        self.hub: Peer | None = None
        self.problem: Problem | None = None
        self._url = url
        self._token = token
        self._open: dict[int, str] = {}
        self._seq = 0
        self._terminated = False
        self._left = False
        self._ended = asyncio.Event()

    async def wait_ended(self) -> None:
        """Returns when nothing is left to be carried."""
        await self._ended.wait()

    def from_editor(self, data: bytes) -> None:
        message = _read(data)
        if message is not None and message.type == "request":
            if self.hub is None:
                self._stand_in(message)
                return
            self._open[message.seq] = message.command
            if message.command in ("attach", "launch"):
                data = self._with_token(message, data)
        if self.hub is not None:
            self.hub.send(data)

    def from_hub(self, data: bytes) -> None:
        message = _read(data)
        if message is not None:
            self._seq = message.seq
            if message.type == "response":
                self._answered(message)
            self._terminated = self._terminated or message.event == "terminated"
        self._to_editor(data)

    def editor_gone(self, reason: str) -> None:
        self._ended.set()

    def hub_gone(self, reason: str) -> None:
        """Everything open is answered. A hub that has ended the session may go; otherwise the editor has to know."""
        self.hub = None
        problem = Problem(
            Code.HUB_LOST, f"The connection to the hub at {self._url} is lost ({reason}); start again to go on."
        )
        if not self._left:
            # An editor that has taken its leave waits for nothing more: dap-mode would show it an error.
            self._answer_open(problem)
        if self._left:
            self._ended.set()
            return
        if not self._terminated:
            self.problem = problem
            self._event("output", {"category": "important", "output": f"{problem}\n"})
            self._event("terminated", {})
        self._end_soon()

    def _answer_open(self, problem: Problem) -> None:
        for seq, command in self._open.items():
            if command == "disconnect":
                self._leave(seq)
            else:
                self._fail(seq, command, problem)
        self._open.clear()

    def _answered(self, answer: Envelope) -> None:
        command = self._open.pop(answer.request_seq, "")
        if command == "disconnect":
            self._left = True
        elif command in ("attach", "launch") and not answer.success and _error(answer) == Code.NOT_ADMITTED:
            self.problem = token_refused(self._url, self._token)

    def _with_token(self, message: Envelope, data: bytes) -> bytes:
        """The editor's own `token`, if it has one, goes before ours."""
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

    def _stand_in(self, request: Envelope) -> None:
        if request.command == "disconnect":
            self._leave(request.seq)
        else:
            gone = Problem(Code.HUB_LOST, "The hub has ended the session; start again to go on.")
            self._fail(request.seq, request.command, self.problem or gone)
            self._end_soon()

    def _leave(self, seq: int) -> None:
        self._to_editor(envelope.response(self._next_seq(), seq, "disconnect"))
        self._left = True
        self._ended.set()

    def _fail(self, seq: int, command: str, problem: Problem) -> None:
        body = envelope.dump(problem.body())
        self._to_editor(envelope.failure(self._next_seq(), seq, command, str(problem), body))

    def _event(self, name: str, body: dict[str, str]) -> None:
        self._to_editor(envelope.event(self._next_seq(), name, envelope.dump(body)))

    def _to_editor(self, data: bytes) -> None:
        if self.editor is not None:
            self.editor.send(data)

    def _next_seq(self) -> int:
        self._seq += 1
        return self._seq

    def _end_soon(self) -> None:
        asyncio.get_running_loop().call_later(FAREWELL, self._ended.set)


def _read(data: bytes) -> Envelope | None:
    """None for what is no DAP message: the other side will say so."""
    try:
        return envelope.read(data)
    except envelope.EnvelopeError:
        return None


def _error(answer: Envelope) -> object:
    """The number of a failure (spec: ErrorResponse)."""
    try:
        return envelope.load(answer.body or b"{}")["error"]["id"]
    except (envelope.EnvelopeError, KeyError, TypeError):
        return None
