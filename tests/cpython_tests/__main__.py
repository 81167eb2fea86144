"""`make conformance`: CPython's own tests without raydap, and with it in each mode of agent_modes.py.

Prints each test that passes without raydap and fails with it, and how much more processor time the tests need. Writes
the results as JSON. Exits with 1 if there is a difference that is not in known_differences.py.

    python -m cpython_tests RESULTS.json
    python -m cpython_tests RESULTS.json --mode idle test_os test_subprocess
"""

import argparse
import importlib.util
import json
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from cpython_tests.comparison import REPEATS, Found, compare
from support.agent_modes import MODES

MODULES: tuple[str, ...] = ("test_subprocess", "test_threading", "test_signal", "test_os", "test_fork1", "test_thread")
MODULES += ("test_faulthandler", "test_gc", "test_weakref", "test_inspect", "test_generators", "test_coroutines")
MODULES += ("test_contextlib", "test_asyncgen", "test_context", "test_posix", "test_pty", "test_popen", "test_wait4")
MODULES += ("test_atexit", "test_exceptions", "test_traceback", "test_warnings", "test_tracemalloc", "test_fcntl")
MODULES += ("test_selectors", "test_threadsignals", "test_threading_local", "test_sys", "test_runpy", "test_cmd_line")


def main() -> int:
    parser = argparse.ArgumentParser(prog="cpython_tests", description=__doc__)
    parser.add_argument("results", type=Path, help="the file for the results")
    parser.add_argument("modules", nargs="*", default=MODULES, help="the modules of tests to run")
    parser.add_argument("--mode", choices=MODES, action="append", help="a mode; may be repeated")
    parser.add_argument("--jobs", type=int, default=2, help="how many modules run at the same time")
    options = parser.parse_intermixed_args()
    modules = [each for each in options.modules if importlib.util.find_spec(f"test.{each}") is not None]
    if not modules:
        say(f"{sys.executable} does not bring its tests")
        return 0
    began = time.monotonic()
    found: list[Found] = []
    results: dict[str, dict[str, dict[str, str]]] = {}
    cpu = dict.fromkeys(("", *MODES), 0.0)
    with ProcessPoolExecutor(options.jobs) as pool:
        for module, runs, differences in pool.map(partial(compare, modes=options.mode or MODES), modules):
            found += differences
            results[module] = {mode or "plain": dict(run.outcomes) for mode, run in runs.items()}
            for mode, run in runs.items():
                cpu[mode] += run.cpu_s
            summary = ", ".join(f"{mode or 'plain'} {run.cpu_s:.1f} s" for mode, run in runs.items())
            say(f"{module}: {len(runs[''].outcomes)} tests, {len(differences)} differences ({summary})")
    options.results.write_text(json.dumps({"python": sys.version, "cpu_s": cpu, "outcomes": results}, indent=1))
    report(found)
    ratios = ", ".join(f"{mode} {cpu[mode] / cpu['']:.2f}" for mode in options.mode or MODES)
    say(f"{time.monotonic() - began:.0f} s; processor time beside that without raydap: {ratios}")
    return int(any(each.is_steady and each.known is None for each in found))


def report(found: Sequence[Found]) -> None:
    runs = 1 + REPEATS
    for each in found:
        if each.known is not None:
            say(f"known: {each.test} ({each.mode}): {each.known.reason}")
        elif each.is_steady:
            say(
                f"DIFFERENT: {each.test} ({each.mode}): failed {each.failures} of {runs} times\n{last_lines(each.text)}"
            )
        else:
            say(
                f"by chance: {each.test} ({each.mode}): failed {each.failures} of {runs} times, without raydap "
                f"{each.plain_failures} of {REPEATS}\n{last_lines(each.text)}"
            )


def last_lines(text: str) -> str:
    return "\n".join("    " + line for line in text.strip().splitlines()[-5:])


def say(text: str) -> None:
    print(text, flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
