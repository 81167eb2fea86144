"""Runs of whole programs in each mode of raydap, and what they print."""

import re
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from support.agent_modes import IN_SESSION, start_in_mode

RUN_TIMEOUT_S = 120.0

HOLD = """\
import os
fifo = os.environ.pop("RAYDAP_TEST_FIFO", "")
if fifo:
    open(fifo).close()
"""
"""The sitecustomize of each program: it waits before the first line of the program."""

VARYING = r"(?<=0x)[0-9a-f]+|(?<=pid=)\d+|(?<=thread )\d+|(?<=/mp-)\w+"
"""Addresses, ids and names of semaphores, which differ between two runs of a program."""


@dataclass(frozen=True)
class Outcome:
    exit_code: int
    output: str
    errors: str


def run(program: Path, mode: str) -> Outcome:
    """Run a program in this mode; "" is without raydap."""
    with TemporaryDirectory(prefix="raydap-", dir="/tmp") as name, ExitStack() as stack:
        folder = Path(name)
        (folder / "hold").mkdir()
        (folder / "hold" / "sitecustomize.py").write_text(HOLD)
        variables = {"RAYDAP_TEST_FIFO": str(folder / "fifo")} if mode in IN_SESSION else {}
        process = start_in_mode([sys.executable, str(program)], mode, folder, stack, str(folder / "hold"), variables)
        code = process.wait(RUN_TIMEOUT_S)
        written = ((folder / file).read_text(errors="replace") for file in ("log", "errors"))
        return Outcome(code, *(re.sub(VARYING, "N", text.replace(name, "FOLDER")) for text in written))
