"""The commands of raydap, as a user starts them."""

import sys
import tempfile
from collections.abc import Mapping, Sequence

from local_cluster import clean_environment

from raydap.exit_codes import ExitCode
from support import fork_server

RAYDAP = (sys.executable, "-m", "raydap")

TIMEOUT_S = 120


def environment(env: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment of a command without a terminal: pytest's has the size of a terminal."""
    made = clean_environment(dict(env or {}))
    for name in {"COLUMNS", "LINES"} - set(env or ()):
        made.pop(name, None)
    return made


def raydap(*arguments: str, env: Mapping[str, str] | None = None, code: int = 0, said: str = "") -> str:
    """Run a command to its end, without a terminal, and check its exit code. `said` is its standard input.

    Return its output; if the expected code is not 0, return what it has printed on standard error.
    """
    ended, output, errors = run(arguments, environment(env), said)
    # With --json, a list for programs may be empty.
    is_empty = code == 0 and "--json" in arguments and ended == ExitCode.NO_WORKER
    assert ended == code or is_empty, output + errors
    assert "Traceback" not in errors
    return output if code == 0 else errors


def run(
    arguments: Sequence[str], environment: dict[str, str], said: str = "", is_merged: bool = False
) -> tuple[int, str, str]:
    """Run a command to its end, and return its exit code, its output and its errors.

    The command is forked from a process that has imported raydap (fork_server), which saves half a second. If
    `is_merged`, the errors are part of the output, as in a terminal.
    """
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        given.write(said.encode())
        given.seek(0)
        streams = given.fileno(), output.fileno(), (output if is_merged else errors).fileno()
        process = fork_server.RAYDAP.fork(arguments, streams, environment, None)
        try:
            code = process.wait(TIMEOUT_S)
        finally:
            process.kill()
        output.seek(0)
        errors.seek(0)
        return code, output.read().decode(), errors.read().decode()
