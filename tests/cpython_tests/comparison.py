"""CPython's own tests that pass without raydap and fail with it."""

from collections.abc import Sequence
from dataclasses import dataclass

from cpython_tests.known_differences import Difference, known_difference
from cpython_tests.module_run import ModuleRun, run_module

REPEATS = 2
"""The number of further runs, without raydap and with it, of tests that differ for no known reason."""


@dataclass(frozen=True)
class Found:
    """A test that passed without raydap and failed with it.

    `failures` counts its failed runs with raydap, and `plain_failures` those without.
    """

    test: str
    mode: str
    failures: int
    plain_failures: int
    text: str
    known: Difference | None

    @property
    def is_steady(self) -> bool:
        return self.plain_failures == 0 and self.failures > 1


def compare(
    module: str, modes: Sequence[str], tests: Sequence[str] = ()
) -> tuple[str, dict[str, ModuleRun], list[Found]]:
    """Run a module, or some of its tests, without raydap and in these modes. Repeat the tests that seem to differ."""
    plain = run_module(module, "", tests)
    runs = {"": plain, **{mode: run_module(module, mode, tests) for mode in modes}}
    found = []
    for mode in modes:
        suspects = differing(plain, runs[mode])
        unknown = [test for test in suspects if known_difference(test, mode) is None]
        alone = tests if unknown == [module] else unknown
        repeats = range(REPEATS if unknown else 0)
        again = [(run_module(module, "", alone), run_module(module, mode, alone)) for _ in repeats]
        for test in suspects:
            failures = 1 + sum(not passed(run, test, module) for _, run in again)
            plain_failures = sum(not passed(run, test, module) for run, _ in again)
            text = runs[mode].texts.get(test, "it did not run")
            found.append(Found(test, mode, failures, plain_failures, text, known_difference(test, mode)))
    return module, runs, found


def differing(plain: ModuleRun, other: ModuleRun) -> list[str]:
    """Return the tests that passed without raydap and not with it; the module's name if the process crashed."""
    if len(other.outcomes) == 1 < len(plain.outcomes):
        return list(other.outcomes)
    return [test for test, outcome in plain.outcomes.items() if outcome == "passed" != other.outcomes.get(test)]


def passed(run: ModuleRun, test: str, module: str) -> bool:
    """Return whether a test passed, or, for the module's name, whether the process did not crash."""
    return module not in run.outcomes if test == module else run.outcomes.get(test) == "passed"
