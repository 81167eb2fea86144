"""Many kinds of small programs have the same exit code, output and errors with raydap as without it.

`make test` runs them during a session; the Pythons that they start have idle agents. `make conformance` (--all-modes)
also runs them with an idle agent and after a session.
"""

import importlib.util
import sys
from pathlib import Path

import pytest

from cpython_tests.known_differences import known_difference
from support.agent_modes import MODES
from support.program_runs import run

pytestmark = pytest.mark.slow

PROGRAMS = {path.stem: path for path in sorted(Path(__file__).with_name("foreign_programs").glob("*.py"))}

NEEDED_MODULES = {"gevent_threads": "gevent", "uvloop_subprocess": "uvloop", "coverage_cores": "coverage"}
NEEDED_MODULES |= {"coverage_here": "coverage", "pytest_xdist": "xdist", "joblib_backends": "joblib"}
NEEDED_MODULES |= {"torch_data_loader": "torch"}

EXIT_CODES = {"daemon": 1, "exit_order": 1, "fork_and_exec": 5, "uncaught_errors": 1}
"""The exit codes of the programs that do not end with 0."""


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
        # The programs print known differences to standard error.
        assert outcome.errors == plain.errors or known_difference(name, mode) is not None, mode
