"""Runs Python code in a process of this machine by `sys.remote_exec`, if raydap and the process have Python 3.14.

The main thread of the process runs a file when it runs Python the next time. If the thread waits in a lock or in native
code, that may be late or never. So after RUN_TIMEOUT_S the file is cut to the lines that remove it.
"""

import os
import re
import sys
import tempfile
import time

from raydap.cluster.injection.gdb_injection import InjectionFailed
from raydap.inworker.private_folders import safe_parent

RUN_TIMEOUT_S = 2.0
"""Seconds for the main thread. A busy one needs 17 ms at most, one in `ray.get` up to 0.9 s (measured)."""


def can_run(pid: int, maps: str = "/proc/{pid}/maps") -> bool:
    """Return whether this Python and the Python of the process have `sys.remote_exec`.

    Both must have the same minor version.
    """
    if not hasattr(sys, "remote_exec"):
        return False
    try:
        with open(maps.format(pid=pid), encoding="utf-8", errors="replace") as file:
            versions = re.findall(r"python(3\.\d+)", file.read())
    except OSError:
        return False
    return "{}.{}".format(*sys.version_info) in versions


def run_in_process(pid: int, source: str) -> None:
    """Make the process run this text. Raises InjectionFailed.

    Blocks, so it must not be called in an event loop.
    """
    # The file must be readable, because the process may belong to another user. It contains no secret.
    try:
        descriptor, path = tempfile.mkstemp(prefix="raydap-", suffix=".py", dir=safe_parent())
    except PermissionError as error:
        raise InjectionFailed(f"raydap cannot write the file that it has to run: {error}") from None
    head = f"import os\nos.unlink({path!a})\n"
    with open(descriptor, "w", encoding="ascii") as file:
        os.fchmod(descriptor, 0o644)
        file.write(f"{head}exec({source!a}, {{}})\n")
        file.flush()
        try:
            vars(sys)["remote_exec"](pid, path)
        except (OSError, RuntimeError) as error:
            os.unlink(path)
            raise InjectionFailed(f"sys.remote_exec failed ({' '.join(str(error).split())})") from None
        until = time.monotonic() + RUN_TIMEOUT_S
        # Check the file by its descriptor: once the process has removed the file, another user can reuse its name.
        while os.fstat(descriptor).st_nlink:
            if time.monotonic() >= until:
                # Keep the head: the process opens the file when its main thread is free, and would report a missing
                # file.
                os.truncate(descriptor, len(head))
                raise InjectionFailed("its main thread is not running Python code")
            time.sleep(0.01)
