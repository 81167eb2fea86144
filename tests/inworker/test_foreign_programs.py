"""Small programs of many kinds do the same with raydap as without it: exit code, output and errors.

`make test` runs them during a session; the Pythons that they start have idle agents. `make conformance` (--all-modes)
runs them with an idle agent and after a session, too.
"""

import importlib.util
import re
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from cpython_tests.known_differences import known_difference
from support.agent_modes import IN_SESSION, MODES, start_in_mode

pytestmark = pytest.mark.slow

RUN_TIMEOUT_S = 120.0

PROGRAMS = {path.stem: path for path in sorted(Path(__file__).with_name("foreign_programs").glob("*.py"))}

NEEDED_MODULES = {"gevent_threads": "gevent", "uvloop_subprocess": "uvloop", "coverage_cores": "coverage"}
NEEDED_MODULES |= {"coverage_here": "coverage", "pytest_xdist": "xdist", "joblib_backends": "joblib"}
NEEDED_MODULES |= {"torch_data_loader": "torch"}

EXIT_CODES = {"daemon": 1, "exit_order": 1, "fork_and_exec": 5, "uncaught_errors": 1}
"""The exit codes of the programs that do not end with 0."""

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


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_does_the_same_with_raydap(name: str, request: pytest.FixtureRequest) -> None:
    module = NEEDED_MODULES.get(name, "sys")
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{module} is not installed")
    if name == "own_monitoring" and sys.version_info < (3, 12):
        pytest.skip("there is no sys.monitoring before Python 3.12")
    modes = MODES if request.config.option.all_modes else ("attached",)
    plain = run(PROGRAMS[name], "")
    assert plain.exit_code == EXIT_CODES.get(name, 0), plain.errors
    for mode in modes:
        outcome = run(PROGRAMS[name], mode)
        assert (outcome.exit_code, outcome.output) == (plain.exit_code, plain.output), mode
        # The programs write to standard error what is known to differ.
        assert outcome.errors == plain.errors or known_difference(name, mode) is not None, mode
