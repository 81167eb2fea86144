"""A launched program in a terminal that the client opens: terminals and launchers that fail."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import pytest

from raydap.core.events import DebuggeeFailed, Event, TerminalNeeded
from raydap.core.settings import LaunchSettings
from raydap.runtime import terminal_process
from raydap.runtime.terminal_process import TerminalProcess

Launcher = Callable[[TerminalProcess, str], Awaitable[None]]


def problem(tmp_path: Path, launcher: Launcher) -> str:
    """Return why a program was not started. `launcher` gets the process and the path of raydap's socket."""
    (tmp_path / "program.py").touch()
    events: list[Event] = []
    folders: list[Path] = []

    async def main() -> None:
        process = TerminalProcess(LaunchSettings(program="program.py", cwd=str(tmp_path)), events.append)
        started = asyncio.create_task(process.start())
        await asyncio.sleep(0)
        (needed,) = events
        assert isinstance(needed, TerminalNeeded)
        path = needed.args[-1]
        folders.append(Path(path).parent)
        await launcher(process, path)
        await started

    try:
        asyncio.run(main())
    finally:
        assert [each.exists() for each in folders] == [False]
    (_, failed) = events
    assert isinstance(failed, DebuggeeFailed)
    return failed.problem.text


def test_a_terminal_that_never_opens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal_process, "OPEN_TIMEOUT_S", 0.01)

    async def nobody(process: TerminalProcess, path: str) -> None:
        pass

    text = problem(tmp_path, nobody)
    assert text == "The program was not started: the terminal did not run raydap's command within 0.01 s."


def test_a_session_that_ends_before_the_terminal_opens(tmp_path: Path) -> None:
    async def stop(process: TerminalProcess, path: str) -> None:
        await process.stop()

    assert problem(tmp_path, stop) == "The program was not started: the session has ended."


@pytest.mark.parametrize("sent", [b"", b'{"environ"', b'{"environ": {}}\n'])
def test_a_launcher_that_leaves(tmp_path: Path, sent: bytes) -> None:
    async def leave(process: TerminalProcess, path: str) -> None:
        _, writer = await asyncio.open_unix_connection(path)
        writer.write(sent)
        writer.close()

    assert "cannot be run (its terminal was closed)" in problem(tmp_path, leave)


def test_what_is_not_a_message_ends_the_start(tmp_path: Path) -> None:
    """The engine turns the error into the answer to `launch`."""

    async def garbage(process: TerminalProcess, path: str) -> None:
        _, writer = await asyncio.open_unix_connection(path)
        writer.write(b"GET / HTTP/1.1\r\n\r\n")
        writer.close()

    with pytest.raises(ValueError, match="Expecting value"):
        problem(tmp_path, garbage)


def test_a_second_connection_is_closed(tmp_path: Path) -> None:
    async def two(process: TerminalProcess, path: str) -> None:
        _, first = await asyncio.open_unix_connection(path)
        reader, second = await asyncio.open_unix_connection(path)
        with suppress(ConnectionResetError):
            assert await reader.read() == b""
        for writer in (first, second):
            writer.close()

    assert "cannot be run" in problem(tmp_path, two)


def test_a_disk_without_space(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(terminal_process, "PrivateListener", refuse)
    events: list[Event] = []

    async def main() -> None:
        await TerminalProcess(LaunchSettings(program="a.py"), events.append).start()

    asyncio.run(main())
    (failed,) = events
    assert isinstance(failed, DebuggeeFailed)
    text = "The program was not started: raydap cannot listen for its terminal (No space left on device)."
    assert failed.problem.text == text
