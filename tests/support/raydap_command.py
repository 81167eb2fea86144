"""The commands of raydap, as a user starts them."""

import subprocess
import sys
from collections.abc import Mapping

from local_cluster import clean_environment

RAYDAP = (sys.executable, "-m", "raydap")

TIMEOUT_S = 120


def raydap(*arguments: str, env: Mapping[str, str] | None = None, code: int = 0) -> str:
    """Runs a command to its end, without a terminal. Returns what it has printed; where another exit code than 0 is
    awaited, what it has said on standard error."""
    environment = clean_environment(dict(env or {}))
    for name in {"COLUMNS", "LINES"} - set(env or ()):
        # What runs the tests sets them, though there is no terminal.
        environment.pop(name, None)
    done = subprocess.run(
        [*RAYDAP, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout if code == 0 else done.stderr
