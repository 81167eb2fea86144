"""The targets of the fuzzer. Each takes any bytes, and raises if the code under test handles them wrongly.

A documented error is right. Any other exception, and any broken promise (AssertionError), is a find.
"""

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest
from lsprotocol import types

from fuzz import acceptor, corpus, sessions, terminal, text_corpus
from raydap.analysis.sets.membership import Candidate, is_in
from raydap.analysis.sets.set_syntax import parse as parse_set
from raydap.core.settings import AttachSettings, LaunchSettings, parse
from raydap.errors import Code, ProblemError
from raydap.lsp.document import Document
from raydap.wire import envelope
from raydap.wire.envelope import EnvelopeError
from raydap.wire.framing import MAX_HEADER, Decoder, FramingError, encode

_MAX_BODY = 300


@dataclass(frozen=True)
class Target:
    """One thing to fuzz. `beginnings` are valid or nearly valid inputs; `tokens` are pieces of their format."""

    name: str
    run: Callable[[bytes], None]
    beginnings: Sequence[bytes]
    tokens: Sequence[bytes]


def framing(data: bytes) -> None:
    """Check that the cuts between bytes change neither the messages nor the error, and that the error is final."""
    whole = _decode(data, len(data) or 1)
    assert _decode(data, 1 + zlib.crc32(data) % 40) == whole
    bodies, _ = whole
    assert all(len(body) <= _MAX_BODY for body in bodies)
    assert _decode(b"".join(map(encode, bodies)), len(data) or 1) == (bodies, None)


def _decode(data: bytes, size: int) -> tuple[list[bytes], str | None]:
    decoder, bodies = Decoder(_MAX_BODY), []
    for begin in range(0, len(data), size):
        try:
            bodies += decoder.feed(data[begin : begin + size])
        except FramingError as error:
            with pytest.raises(FramingError, match=r"\.$"):
                decoder.feed(b"Content-Length: 0\r\n\r\n")
            return bodies + error.bodies, str(error)
        assert len(decoder._buffer) <= max(MAX_HEADER, _MAX_BODY), "more is kept than one message"
    return bodies, None


def messages(data: bytes) -> None:
    """Check that an envelope is refused, or has what its type needs and a body that can be read and written again."""
    try:
        message = envelope.read(data)
    except EnvelopeError:
        return
    assert message.type in ("request", "response", "event")
    assert message.command or message.type == "event"
    for raw in (message.arguments, message.body):
        if raw is not None:
            _reload(raw)
    if message.type == "request":
        again = envelope.read(envelope.request(message.seq, message.command, message.arguments))
        assert (again.command, again.arguments is None) == (message.command, message.arguments is None)


def _reload(raw: bytes) -> None:
    try:
        value = envelope.load(raw)
    except EnvelopeError:
        return
    assert envelope.load(envelope.dump(value)) == value


def arguments(data: bytes) -> None:
    """Check that arguments are read, or refused with one sentence that names the mistake."""
    try:
        given = envelope.load(data)
    except EnvelopeError:
        return
    for kind in (AttachSettings, LaunchSettings):
        try:
            parse(kind, given)
        except ProblemError as error:
            problem = error.problem
        else:
            continue
        assert problem.code in (Code.BAD_ARGUMENT, Code.UNKNOWN_ARGUMENT)
        envelope.dump(str(problem))


def sets(data: bytes) -> None:
    """Check that a set is read, or refused with one sentence that names the mistake."""
    text = data.decode("utf-8", "surrogateescape")
    try:
        wanted = parse_set(text, {"some": "rank:1", "loop": "set:loop"})
    except ProblemError as error:
        problem = error.problem
    else:
        assert wanted.where in text
        is_in(wanted.tree, Candidate(text_corpus.STOPPED, text_corpus.STOPPED.threads[0], ("/app/a.py", 7)))
        return
    assert problem.code is Code.BAD_ARGUMENT


def files(data: bytes) -> None:
    """Check that all results for a file are within it, and that its fixes can be computed."""
    text = data.decode("utf-8", "surrogateescape")
    lines = len(data.splitlines()) + 1
    for uri in ("file:///train.py", "file:///.vscode/launch.json"):
        document = Document(uri, text, 1, "utf-16")
        for diagnostic in document.examine(frozenset()) or ():
            assert diagnostic.range.end.line < lines
        document.actions(types.Range(types.Position(0, 0), types.Position(lines, 0)))
        assert all(1 <= mark.line <= lines for mark in document.marks)
        blocks, positions = document.now()
        for use in blocks.around(lines // 2).uses:
            positions.range(use.span)


def frames(data: bytes) -> None:
    """Feed the acceptor, after a WebSocket handshake that it has accepted."""
    acceptor.run(corpus.LET_IN + data)


TARGETS = {
    target.name: target
    for target in (
        Target("framing", framing, corpus.FRAMES, corpus.HEADERS),
        Target("messages", messages, corpus.ENVELOPES, corpus.JSON),
        Target("arguments", arguments, corpus.SETTINGS, corpus.SETTING_NAMES + corpus.JSON),
        Target("session", sessions.Play.run, corpus.SESSIONS, corpus.LINES),
        Target("acceptor", acceptor.run, corpus.VISITS, corpus.HTTP),
        Target("sets", sets, text_corpus.SETS, text_corpus.SET_PIECES),
        Target("commands", terminal.commands, text_corpus.COMMANDS, text_corpus.COMMAND_PIECES),
        Target("words", terminal.words, text_corpus.WORDS, text_corpus.WORD_PIECES),
        Target("files", files, text_corpus.FILES, text_corpus.PYTHON),
        Target("frames", frames, corpus.FRAMED, corpus.HTTP),
    )
}
