"""The commands of raydap, as a user starts them."""

import subprocess
import sys
from collections.abc import Mapping

from local_cluster import clean_environment

from raydap.exit_codes import ExitCode

RAYDAP = (sys.executable, "-m", "raydap")

TIMEOUT_S = 120


def environment(env: Mapping[str, str] | None = None) -> dict[str, str]:
    """That of a command without a terminal: what runs the tests sets the size of one."""
    made = clean_environment(dict(env or {}))
    for name in {"COLUMNS", "LINES"} - set(env or ()):
        made.pop(name, None)
    return made


def raydap(*arguments: str, env: Mapping[str, str] | None = None, code: int = 0) -> str:
    """Runs a command to its end, without a terminal. Returns what it has printed; where another exit code than 0 is
    awaited, what it has said on standard error."""
    done = subprocess.run(
        [*RAYDAP, *arguments],
        env=environment(env),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    # A list for programs may be empty.
    is_empty = code == 0 and "--json" in arguments and done.returncode == ExitCode.NO_WORKER
    assert done.returncode == code or is_empty, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout if code == 0 else done.stderr
