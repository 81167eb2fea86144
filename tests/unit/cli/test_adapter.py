"""`raydap adapter` imports few modules when it starts, because an editor waits for it."""

import subprocess
import sys

STARTED = """\
import sys
import raydap.cli.signals, raydap.runtime.engine, raydap.runtime.session_socket, raydap.transport.stdio
print([name for name in ("aiohttp", "debugpy", "ray", "rich", "websockets") if name in sys.modules])
"""


def test_a_session_starts_without_the_libraries_that_it_may_not_need() -> None:
    assert subprocess.check_output([sys.executable, "-c", STARTED], text=True) == "[]\n"
