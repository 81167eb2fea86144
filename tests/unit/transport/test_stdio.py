"""DAP on standard input and output, in a process of its own."""

import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import IO, Any

import pytest

from raydap.wire.framing import encode

WAIT = 20.0

# Answers every message with its text in upper case, and prints where output must not disturb DAP.
ECHO = """
import asyncio, os, sys
from raydap.transport import stdio

async def main():
    gone = asyncio.Event()
    reasons = []
    def on_message(body):
        print("stray print")
        os.system("echo stray child")
        peer.send(body.upper())
    def on_gone(reason):
        reasons.append(reason)
        gone.set()
    peer = stdio.connect(on_message, on_gone)
    await gone.wait()
    await peer.wait_closed()
    print("gone:", *reasons, file=sys.stderr)

asyncio.run(main())
"""


def start(stdin: int | IO[Any], stdout: int | IO[Any]) -> "subprocess.Popen[bytes]":
    path = os.pathsep.join(filter(None, sys.path))
    return subprocess.Popen(
        [sys.executable, "-c", ECHO],
        stdin=stdin,
        stdout=stdout,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": path},
    )


def test_pipes_carry_only_dap() -> None:
    with start(subprocess.PIPE, subprocess.PIPE) as process:
        out, err = process.communicate(encode(b'"one"') + encode(b'"two"'), timeout=WAIT)
    assert out == encode(b'"ONE"') + encode(b'"TWO"')
    assert err.count(b"stray print") == 2
    assert err.count(b"stray child") == 2
    assert err.endswith(b"gone: closed\n")


def test_a_socket_serves_as_well() -> None:
    ours, theirs = socket.socketpair()
    with ours, start(theirs.fileno(), theirs.fileno()) as process:
        theirs.close()
        ours.settimeout(WAIT)
        ours.sendall(encode(b'"one"'))
        want = encode(b'"ONE"')
        got = b""
        while len(got) < len(want):
            got += ours.recv(100)
        assert got == want
        ours.shutdown(socket.SHUT_WR)
        _, err = process.communicate(timeout=WAIT)
    assert err.endswith(b"gone: closed\n")


def test_files_serve_as_well(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(encode(b'"one"') * 3)
    with open(tmp_path / "in", "rb") as source, open(tmp_path / "out", "wb") as sink, start(source, sink) as process:
        _, err = process.communicate(timeout=WAIT)
    assert (tmp_path / "out").read_bytes() == encode(b'"ONE"') * 3
    assert err.endswith(b"gone: closed\n")


def test_garbage_ends_it_with_the_reason() -> None:
    with start(subprocess.PIPE, subprocess.PIPE) as process:
        out, err = process.communicate(b"hello\r\n\r\n", timeout=WAIT)
    assert out == b""
    assert b"gone: " in err
    assert b"hello" in err


@pytest.mark.parametrize("size", [10, 300_000])
def test_a_reader_that_leaves_ends_it(size: int) -> None:
    with start(subprocess.PIPE, subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        process.stdin.write(encode(b'"' + b"x" * size + b'"'))
        process.stdin.flush()
        # Standard input stays open, so only a write can notice the end.
        err = process.stderr.read()
        assert err.endswith(b"gone: connection reset\n")
