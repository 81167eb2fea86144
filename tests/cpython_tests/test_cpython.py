"""A few of CPython's own tests, about what an agent could change; `make conformance` runs many more."""

import importlib.util

import pytest

from cpython_tests.comparison import compare
from support.agent_modes import MODES

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("test.test_os") is None, reason="this Python does not bring its tests"),
]

TESTS = {
    "test_os": ("*.ForkTests.*", "*.ExecTests.*", "*.SpawnTests.test_spawnv*", "*.FileTests.test_closerange"),
    "test_posix": ("*.TestPosixSpawn.test_r*", "*.TestPosixSpawn.test_s*"),
    "test_subprocess": ("*.POSIXProcessTestCase.test_pass_fds*", "*.POSIXProcessTestCase.test_preexec*"),
    "test_threading": ("*.ThreadTests.test_e*", "*.ThreadTests.test_main_thread*", "*.test__all__"),
}
"""Patterns for the tests of some modules."""


@pytest.mark.parametrize("module", TESTS)
def test_what_passes_without_raydap_passes_with_it(module: str) -> None:
    _, runs, found = compare(module, MODES, TESTS[module])
    assert all("passed" in run.outcomes.values() for run in runs.values())
    assert [each for each in found if each.is_steady and each.known is None] == []
