"""A check that the gdb of this machine can do what raydap needs."""

import functools
import shutil
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from local_cluster import Child

WAITS = "import time\nprint('begun', flush=True)\ntime.sleep(600)\n"


def need_gdb() -> None:
    """Fail the test if gdb is not installed. Skip it if gdb is too old for this processor."""
    assert shutil.which("gdb"), "this test needs gdb: apt-get install gdb"
    if not _writes_registers():
        pytest.skip("this gdb cannot write the registers of this processor (it has AMX); gdb 14 can")


@functools.cache
def _writes_registers() -> bool:
    with TemporaryDirectory() as folder, ExitStack() as children:
        child = children.enter_context(Child([sys.executable, "-c", WAITS], Path(folder) / "log"))
        child.wait_for("begun")
        commands = ["set $saved = (int)$mxcsr", "set $mxcsr = $saved ^ 0x20", "set $mxcsr = $saved"]
        options = [option for command in commands for option in ("-ex", command)]
        gdb = ["gdb", "-batch", "-nx", "-p", str(child.pid), *options]
        said = subprocess.run(gdb, capture_output=True, text=True, timeout=60, check=False)
        return "Couldn't write" not in said.stdout + said.stderr
