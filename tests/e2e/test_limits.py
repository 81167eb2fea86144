"""Each command under each bad condition: it works, or prints one sentence that describes the problem."""

import os
import re
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import msgspec
import pytest

from support.limits import CONDITIONS, start
from support.raydap_command import TIMEOUT_S

# It makes a folder as the sign of its run, because its output may be closed and its disk may be full.
PROGRAM = """\
import os, sys
os.mkdir(sys.argv[0] + ".ran")
try:
    os.write(1, "r\\u00e9sult\\n".encode())
except OSError:
    pass
"""

NOWHERE = "http://127.0.0.1:9"

NUMBERED = r"\[raydap \d{4}\]"


def framed(*messages: dict[str, Any]) -> bytes:
    bodies = [msgspec.json.encode(each) for each in messages]
    return b"".join(b"Content-Length: %d\r\n\r\n%s" % (len(body), body) for body in bodies)


def session(request: str, **arguments: Any) -> bytes:
    """Return the requests with which an editor begins a session."""
    requests: Sequence[tuple[str, dict[str, Any]]] = (
        ("initialize", {"adapterID": "raydap"}),
        (request, arguments),
        ("configurationDone", {}),
    )
    return framed(
        *(
            {"seq": seq, "type": "request", "command": name, "arguments": each}
            for seq, (name, each) in enumerate(requests, 1)
        )
    )


LSP = framed(
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"processId": None, "rootUri": None, "capabilities": {}},
    },
    {"jsonrpc": "2.0", "id": 2, "method": "shutdown"},
    {"jsonrpc": "2.0", "method": "exit"},
)

# The arguments of each command, its exit code, and a pattern for what it prints.
COMMANDS: Mapping[str, tuple[list[str], int, str]] = {
    "launch": (["adapter"], 0, '"event":"terminated"'),
    "attach": (["adapter"], 0, NUMBERED),
    "run": (["run", "PROGRAM"], 0, ""),
    "ps": (["ps", "--dashboard", NOWHERE], 1, NUMBERED),
    "hang": (["hang", "--dashboard", NOWHERE], 1, NUMBERED),
    "doctor": (["doctor", "--dashboard", NOWHERE, "--break", "PROGRAM:1"], 1, "1 error"),
    "report": (["report", "--out", "PROGRAM.html", "PROGRAM"], 0, "r.*sult"),
    "debug": (["debug", "PROGRAM"], 0, "r.*sult"),
    "serve": (["serve"], 0, "ws://"),
    "up": (["up", "--dashboard", NOWHERE], 1, NUMBERED),
    "connect": (["connect", "ws://127.0.0.1:9/dap"], 1, NUMBERED),
    "lsp": (["lsp"], 0, '"capabilities"'),
    "status": (["status"], 0, ""),
}

PROGRAMS = ("launch", "run", "report", "debug")
"""The commands that run the program."""

NO_START = r"cannot be run \(.*\)\. \[raydap 4001\]"
LOST = "Error: Standard output cannot be written: .*\\. Redirect it to another file\\."
NO_FOLDER = "Error: The current folder was removed. Change to another folder."

CAUSES = {"12 descriptors": "may open only 12 files and sockets", "no /proc": "/proc is not mounted"}
"""The warnings under these conditions. The commands in LOOKING print them, because they may miss workers."""

LOOKING = ("launch", "attach", "ps", "hang", "doctor", "report", "debug", "serve")

# Exceptions to COMMANDS: the exit code and the output of a command that cannot work under this condition.
FAILS: Mapping[tuple[str, str], tuple[int, str]] = {
    ("12 descriptors", "launch"): (0, NO_START),
    ("12 descriptors", "report"): (1, NO_START),
    ("12 descriptors", "debug"): (1, NO_START),
    ("full disk", "launch"): (0, NO_START),
    ("full disk", "report"): (1, NO_START),
    ("full disk", "debug"): (1, NO_START),
    ("full disk", "serve"): (1, 'The connection file ".*" cannot be written: File too large; choose another path'),
    ("ASCII", "launch"): (0, r"the locale encoding \(ascii\) cannot represent .*; start raydap with PYTHONUTF8=1\."),
    ("no folder", "report"): (1, NO_FOLDER),
    # Without standard input, the editor has disconnected before its first request. Without output, it gets nothing.
    **{("stdin closed", name): (0, "") for name in ("launch", "attach", "lsp", "debug")},
    **{(f"stdout {how}", name): (0, "") for how in ("closed", "full") for name in ("launch", "attach", "lsp")},
    **{(f"stdout {how}", name): (1, LOST) for how in ("closed", "full") for name in ("doctor", "debug", "status")},
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_command_works_or_prints_what_is_wrong(condition: str, command: str, tmp_path: Path) -> None:
    if condition == "no /proc" and os.getuid() != 0:
        pytest.skip("only root can hide /proc")
    program = tmp_path / "pr\u00f6gram.py"
    program.write_text(PROGRAM)
    arguments, code, text = COMMANDS[command]
    words = [word.replace("PROGRAM", str(program)) for word in arguments]
    given = {
        "launch": session("launch", program=str(program), dashboard=NOWHERE),
        "attach": session("attach", dashboard=NOWHERE),
        "connect": session("attach"),
        "debug": b"c\n",
        "lsp": LSP,
    }.get(command, b"")
    code, text = FAILS.get((condition, command), (code, text))
    process = start(CONDITIONS[condition], words, tmp_path / "home", {})
    try:
        printed = feed(process, command, given, tmp_path / "home").decode(errors="replace")
        out, err = (each.decode(errors="replace") for each in process.communicate(timeout=TIMEOUT_S))
    finally:
        process.kill()
        process.communicate()
    out += printed
    assert process.returncode == code, (out, err)
    assert "Traceback" not in out + err
    named = [cause for where, cause in CAUSES.items() if cause in out + err and where == condition]
    assert len(named) == (condition in CAUSES and command in LOOKING), err
    if text == LOST or not CONDITIONS[condition].hidden:
        assert re.search(text, out + err), (out, err)
    if command in PROGRAMS and (condition, command) not in FAILS:
        assert Path(f"{program}.ran").exists(), (out, err)


def feed(process: "subprocess.Popen[bytes]", command: str, given: bytes, home: Path) -> bytes:
    """Write to the command. When it has done its work and may end, return its output."""
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    with suppress(BrokenPipeError):
        process.stdin.write(given)
        process.stdin.flush()
    if command in ("launch", "attach"):
        return read_until(process.stdout, b'"event":"terminated"|"success":false')
    if command == "serve":
        if not (printed := read_until(process.stderr, b"ws://.*\n")):
            # The address is not visible, so wait for the connection file.
            while process.poll() is None and not list(home.rglob("hub-*.json")):
                time.sleep(0.02)
        process.terminate()
        return printed
    return b""


def read_until(stream: IO[bytes], pattern: bytes) -> bytes:
    """Read the stream until its content matches, or to its end, and return the content."""
    received = b""
    while not re.search(pattern, received) and (data := os.read(stream.fileno(), 65536)):
        received += data
    return received
