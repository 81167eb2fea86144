"""One run of a module of CPython's own tests, without raydap or with it.

The tests run in the Python of this process, which has to bring them (`python -m test`).
"""

import json
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from raydap.inworker import agent_code
from support.agents import attach_to, hanging_up, read_line
from support.entered import EnteredWorker

MODES = ("idle", "left", "attached")
"""How raydap is in the process of the tests: an agent that no raydap uses, an agent whose session has ended, an agent
with a session without breakpoints. The Pythons that the tests start have idle agents."""

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
"""The program of the tests' process. If it is given a FIFO, it waits until the FIFO is opened."""


@dataclass(frozen=True)
class ModuleRun:
    """`outcomes` maps the name of each test to `passed`, `failed` or `skipped`, and `texts` to how the test failed."""

    outcomes: Mapping[str, str]
    texts: Mapping[str, str]
    cpu_s: float
    """Seconds of a processor that the process and its children have used."""


def run_module(module: str, mode: str = "", tests: Sequence[str] = ()) -> ModuleRun:
    """Run a module, or only some of its tests; without a mode, run it without raydap."""
    with TemporaryDirectory(prefix="raydap-", dir="/tmp") as name, ExitStack() as stack:
        folder = Path(name)
        (folder / "tests").mkdir()
        listener = None if mode in ("", "idle") else stack.enter_context(listening(folder / "raydap"))
        fifo = "" if listener is None else str(folder / "fifo")
        command = [sys.executable, "-c", HOLD, fifo, "--junit-xml", str(folder / "results.xml")]
        command += [word for test in tests for word in ("--match", test)]
        command += [word for test in IGNORED for word in ("--ignore", test)]
        before = children_cpu_s()
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(
                [*command, module],
                env=environment(mode, folder),
                cwd=folder / "tests",
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        stack.callback(end_group, process)
        if listener is not None:
            os.mkfifo(fifo)
            worker, path = attach(listener, stack)
            if mode == "left":
                worker.leave()
                wait_for_end_of_session(path)
            with open(fifo, "w"):
                stack.enter_context(hanging_up(listener))
        with suppress(subprocess.TimeoutExpired):
            process.wait(RUN_TIMEOUT_S)
        end_group(process)
        text = (folder / "log").read_text(errors="replace")
        return read_results(module, folder / "results.xml", text, children_cpu_s() - before)


def environment(mode: str, folder: Path) -> dict[str, str]:
    """Return the environment for a process in this mode."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    if not mode:
        return kept
    raydap = "" if mode == "idle" else str(folder / "raydap")
    settings = {"raydap": raydap, "folder": str(folder), "wait": False, "children": True}
    at_start = Path(agent_code.__file__).parent / "at_start"
    return {**kept, "RAYDAP_AGENT": json.dumps(settings), "PYTHONPATH": str(at_start)}


def listening(path: Path) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX)
    listener.settimeout(60)
    listener.bind(str(path))
    listener.listen()
    return listener


def attach(listener: socket.socket, stack: ExitStack) -> tuple[EnteredWorker, str]:
    """Attach to the process that calls at this socket. Return the path of its agent's own socket, too."""
    connection = stack.enter_context(listener.accept()[0])
    connection.settimeout(60)
    path = read_line(connection)["socket"]
    return attach_to(connection, stack, Path(os.devnull), filters=()), path


def wait_for_end_of_session(path: str) -> None:
    """Wait until nothing of pydevd is left: only then the agent greets, and names no holder."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(60)
        connection.connect(path)
        assert read_line(connection)["holder"] == ""


def end_group(process: "subprocess.Popen[bytes]") -> None:
    """End a process and all processes of its group."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def children_cpu_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def read_results(module: str, results: Path, log: str, cpu_s: float) -> ModuleRun:
    """Return what the tests wrote. A process that did not end itself has one failed test with the module's name."""
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
