"""Decoding of workers' answers. A worker is not trusted: it can send anything."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from raydap.core.flows import Flow
from raydap.core.model.pending import WorkerRefusedError
from raydap.core.model.worker import Worker
from raydap.inworker import calls
from raydap.wire import envelope
from raydap.wire.envelope import Envelope

TEXT_LIMIT = 32 * 1024 * 1024
"""The longest text, in bytes of JSON, that is fetched from a worker in parts. A client with twice as much to read is
considered dead (transport/peer.py, MAX_QUEUED)."""


def load_body(reply: Envelope) -> Mapping[str, object]:
    """Return the decoded body of an answer; empty if there is none, or if it cannot be decoded."""
    if reply.body is None:
        return {}
    try:
        body = envelope.load(reply.body)
    except envelope.EnvelopeError:
        return {}
    return body if isinstance(body, dict) else {}


def query(worker: Worker, expression: str, timeout_s: float) -> Flow[Any]:
    """Return the result of an expression of inworker/calls.py.

    Raises ResultError if the worker's answer is no result, and ProblemError if the worker does not answer.
    """
    try:
        arguments = {"expression": expression, "context": "clipboard"}
        text = load_body((yield from worker.ask("evaluate", arguments, timeout_s))).get("result")
    except WorkerRefusedError as error:
        text = error.reply.message
    return calls.read_result(text)


def query_text(worker: Worker, part: Callable[[int], str], timeout_s: float) -> Flow[str]:
    """Return a text that is fetched from a worker in parts.

    `part` returns the expression for the part that begins at a character. Raises ResultError and ProblemError like
    `query`, and ResultError for a text of more than TEXT_LIMIT.
    """
    parts: list[str] = []
    size = 0
    while size <= TEXT_LIMIT:
        text = yield from query(worker, part(len(parts) * calls.PART), timeout_s)
        if not isinstance(text, str):
            raise calls.ResultError("not a text")
        parts.append(text)
        size += len(envelope.dump(text))
        # JSON makes one character of two surrogates, so a part can be shorter without being the last.
        if len(text) < calls.PART // 2:
            return "".join(parts)
    raise calls.ResultError(f"longer than {TEXT_LIMIT} bytes")


def fetch_result(worker: Worker, number: object, timeout_s: float) -> Flow[str | None]:
    """Return the whole result of an evaluation whose result the worker has cut.

    `number` is the `raydapResult` of the answer (message_limit.py). The result is None if it is too long, or cannot be
    fetched any more.
    """
    if type(number) is not int:
        return None
    try:
        return (yield from query_text(worker, partial(calls.result_part, number), timeout_s))
    except calls.ResultError:
        return None
