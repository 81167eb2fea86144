"""Commands of raydap that a test repeats until they print the expected text."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from support import fork_server
from support.raydap_command import TIMEOUT_S


def forked_command(arguments: Sequence[str], log: Path, env: Mapping[str, str] | None = None) -> tuple[int, str]:
    """Run a command to its end in a process that has already imported raydap. Return its exit code and its output."""
    with fork_server.RAYDAP.start(arguments, log, env) as child:
        code = child.wait(TIMEOUT_S)
    assert "Traceback" not in child.output
    return code, child.output
