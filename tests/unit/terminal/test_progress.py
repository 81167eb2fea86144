"""The progress line on a terminal while a command waits."""

import asyncio
import io
import os
import subprocess
import sys

from rich.console import Console

from raydap.terminal.progress import Progress


def run(is_terminal: bool, delay_s: float, ended: bool = False, term: str = "xterm") -> str:
    """Return what is written during a wait. It ends at the first output, or after a few turns of the event loop."""
    out = io.StringIO()
    environ = {"TERM": term, "NO_COLOR": "1"}
    console = Console(file=out, force_terminal=is_terminal, width=60, _environ=environ)
    progress = Progress(console, delay_s)
    if ended:
        progress.end()

    async def wait() -> None:
        with progress.during("waiting for the workers' answers"):
            turns = 200 if delay_s == 0 and is_terminal and not ended and term != "dumb" else 3
            for _ in range(turns):
                if out.getvalue():
                    break
                await asyncio.sleep(0)

    asyncio.run(wait())
    return out.getvalue()


def test_a_long_wait_is_shown_and_the_line_is_erased() -> None:
    text = run(is_terminal=True, delay_s=0)
    assert "waiting for the workers' answers ..." in text
    # The line is erased, and the cursor is visible again.
    assert "\x1b[2K" in text
    assert text.index("\x1b[?25l") < text.rindex("\x1b[?25h")


def test_a_short_wait_is_not() -> None:
    assert run(is_terminal=True, delay_s=1000) == ""


def test_without_a_terminal_nothing_is_written() -> None:
    assert run(is_terminal=False, delay_s=0) == ""
    assert run(is_terminal=True, delay_s=0, term="dumb") == ""


def test_no_progress_is_shown_beside_other_output() -> None:
    assert run(is_terminal=True, delay_s=0, ended=True) == ""


def test_the_end_erases_the_line() -> None:
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=60, _environ={"TERM": "xterm"})
    progress = Progress(console, 0)

    async def wait() -> None:
        with progress.during("waiting for the workers' answers"):
            for _ in range(200):
                if out.getvalue():
                    break
                await asyncio.sleep(0)
            progress.end()
            begun = len(out.getvalue())
            await asyncio.sleep(0)
            assert len(out.getvalue()) == begun

    asyncio.run(wait())
    assert out.getvalue().endswith("\x1b[2K")


def test_a_pipe_is_no_terminal_even_if_it_gets_colours() -> None:
    code = """\
import asyncio
from raydap.terminal.progress import Progress

async def wait():
    with progress.during("waiting for the workers' answers"):
        await asyncio.get_running_loop().run_in_executor(None, str)

progress = Progress.of_command()
progress._delay_s = 0
asyncio.run(wait())
"""
    environ = {**os.environ, "FORCE_COLOR": "1", "TERM": "xterm"}
    ended = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True)
    assert (ended.stdout, ended.stderr) == ("", "")
