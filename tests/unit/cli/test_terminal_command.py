"""The end of a terminal command, and the text that it reads and writes."""

import io
import sys
from collections.abc import Callable

import click
import pytest

from raydap.cli import terminal_command
from raydap.client.dap_connection import SessionError
from raydap.client.joining import SessionTarget
from raydap.errors import Code, Problem, ProblemError
from raydap.hub.hub_token import TokenError

PROBLEM = Problem(Code.NO_CLUSTER, "There is no cluster.")


def ended(work: Callable[[], int]) -> object:
    async def run() -> int:
        return work()

    with pytest.raises(SystemExit) as caught:
        terminal_command.run(run(), None, False)
    return caught.value.code


def test_the_exit_code_is_that_of_the_work(capsys: pytest.CaptureFixture[str]) -> None:
    assert [ended(lambda code=code: code) for code in (0, 1, 7)] == [0, 1, 7]  # type: ignore[misc]
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (ProblemError(PROBLEM), str(PROBLEM)),
        (SessionError("The session is over."), "The session is over."),
        (TokenError("The token is too short."), "The token is too short."),
    ],
)
def test_a_failure_is_one_sentence(error: Exception, sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    def fail() -> int:
        raise error

    assert ended(fail) == 1
    assert capsys.readouterr() == ("", f"{sentence}\n")


def test_text_that_is_no_text_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user may type bytes that are not UTF-8, and a worker may print to a stream that takes only ASCII."""
    typed = io.TextIOWrapper(io.BytesIO(b"p '\xff'\n"), encoding="utf-8")
    written = [io.TextIOWrapper(io.BytesIO(), encoding="ascii") for _ in range(2)]
    monkeypatch.setattr(sys, "stdin", typed)
    monkeypatch.setattr(sys, "stdout", written[0])
    monkeypatch.setattr(sys, "stderr", written[1])

    def talk() -> int:
        for stream in (sys.stdout, sys.stderr):
            stream.write(sys.stdin.readline() or "ü \udcff\n")
            stream.flush()
        return 0

    assert ended(talk) == 0
    assert [stream.buffer.getvalue() for stream in written] == [b"p '\\ufffd'\n", b"\\xfc \\udcff\n"]


def test_a_hub_knows_its_cluster() -> None:
    assert terminal_command.target("http://h:1", None, None, None) == SessionTarget("http://h:1")
    assert terminal_command.target(None, "ws://h:1", "file", "ca") == SessionTarget(None, "ws://h:1", "file", "ca")
    with pytest.raises(click.UsageError, match="cannot be combined"):
        terminal_command.target("http://h:1", "ws://h:1", None, None)
