"""One run of a module of CPython's own tests, without raydap or with it.

The tests run in the Python of this process, which has to include them (`python -m test`).
"""

import re
import resource
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from support.agent_modes import IN_SESSION, end_group, start_in_mode

RUN_TIMEOUT_S = 300.0

IGNORED = ("test_print_exception_gh_102056",)
"""Tests that can hang without raydap on a busy machine."""

HOLD = """\
import runpy, sys
if sys.argv[1]:
    open(sys.argv[1]).close()
del sys.argv[1]
runpy.run_module("test", run_name="__main__", alter_sys=True)
"""
"""The program of the process with the tests. If it gets a FIFO, it waits until the FIFO is opened."""


@dataclass(frozen=True)
class ModuleRun:
    """The results of a run.

    `outcomes` maps the name of each test to `passed`, `failed` or `skipped`, and `texts` the name of a failed test to
    its failure.
    """

    outcomes: Mapping[str, str]
    texts: Mapping[str, str]
    cpu_s: float
    """The processor time of the process and its children, in seconds."""


def run_module(module: str, mode: str = "", tests: Sequence[str] = ()) -> ModuleRun:
    """Run a module, or some of its tests. "" as the mode is a run without raydap."""
    with TemporaryDirectory(prefix="raydap-", dir="/tmp") as name, ExitStack() as stack:
        folder = Path(name)
        fifo = str(folder / "fifo") if mode in IN_SESSION else ""
        command = [sys.executable, "-c", HOLD, fifo, "--junit-xml", str(folder / "results.xml")]
        command += [word for test in tests for word in ("--match", test)]
        command += [word for test in IGNORED for word in ("--ignore", test)]
        before = children_cpu_s()
        process = start_in_mode([*command, module], mode, folder, stack)
        with suppress(subprocess.TimeoutExpired):
            process.wait(RUN_TIMEOUT_S)
        end_group(process)
        text = "".join((folder / name).read_text(errors="replace") for name in ("log", "errors"))
        return read_results(module, folder / "results.xml", text, children_cpu_s() - before)


def children_cpu_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def read_results(module: str, results: Path, log: str, cpu_s: float) -> ModuleRun:
    """Return the results that the tests have written.

    A process without results has crashed: this is one failed test with the module's name.
    """
    outcomes: dict[str, str] = {}
    texts: dict[str, str] = {}
    cases = list(ElementTree.parse(results).iter("testcase")) if results.exists() else []
    if not cases:
        outcomes[module], texts[module] = "failed", log[-4000:]
    for case in cases:
        # The parameters of a subtest follow the name.
        name = re.split(r"[ (\[]", case.get("name", ""), maxsplit=1)[0]
        for part in case:
            if part.tag in ("failure", "error"):
                outcomes[name], texts[name] = "failed", part.text or ""
            elif part.tag == "skipped":
                outcomes.setdefault(name, "skipped")
        outcomes.setdefault(name, "passed")
    return ModuleRun(outcomes, texts, cpu_s)
