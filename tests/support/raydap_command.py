"""The commands of raydap, as a user starts them."""

import subprocess
import sys
from collections.abc import Mapping

from local_cluster import clean_environment

from raydap.exit_codes import ExitCode

RAYDAP = (sys.executable, "-m", "raydap")

TIMEOUT_S = 120


def environment(env: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment of a command without a terminal: pytest's has the size of a terminal."""
    made = clean_environment(dict(env or {}))
    for name in {"COLUMNS", "LINES"} - set(env or ()):
        made.pop(name, None)
    return made


def raydap(*arguments: str, env: Mapping[str, str] | None = None, code: int = 0) -> str:
    """Run a command to its end, without a terminal, and check its exit code.

    Return its output; if the expected code is not 0, return what it has printed on standard error.
    """
    done = subprocess.run(
        [*RAYDAP, *arguments],
        env=environment(env),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    # With --json, a list for programs may be empty.
    is_empty = code == 0 and "--json" in arguments and done.returncode == ExitCode.NO_WORKER
    assert done.returncode == code or is_empty, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout if code == 0 else done.stderr
