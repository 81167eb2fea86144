"""Lines of standard input."""

import asyncio
import os
import threading

import pytest

from raydap.terminal.debugger.standard_input import StandardInput


@pytest.mark.parametrize(
    ("written", "lines"),
    [
        (b"", []),
        (b"a\nb\n", ["a", "b"]),
        (b"a\r\n\nlast", ["a", "", "last"]),
        ("\u00e9\n".encode() + b"\xff\n", ["\u00e9", "\ufffd"]),
    ],
)
def test_lines_until_the_end(written: bytes, lines: list[str]) -> None:
    reading, writing = os.pipe()

    async def script() -> None:
        read = StandardInput(reading)
        os.write(writing, written)
        os.close(writing)
        assert [await read.read_line() for _ in lines] == lines
        assert await read.read_line() is None

    try:
        asyncio.run(script())
    finally:
        os.close(reading)


def test_a_line_that_never_comes_keeps_no_event_loop_from_its_end() -> None:
    reading, writing = os.pipe()

    async def script() -> None:
        task = asyncio.ensure_future(StandardInput(reading).read_line())
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait({task})

    asyncio.run(script())
    os.close(writing)
    # A later test's descriptor may get the same number, and must not be read here.
    for thread in threading.enumerate():
        if thread.name == "raydap-standard-input":
            thread.join()
    os.close(reading)
