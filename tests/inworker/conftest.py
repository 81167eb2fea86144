"""Shared fixtures of the tests of code that runs in workers."""

import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from raydap.inworker import calls
from support.agents import PreparedProgram, attach
from support.debuggee import Debuggee
from support.entered import EnteredWorker
from support.held_program import HELD, HeldProgram, RunHeld

Start = Callable[..., tuple[EnteredWorker, Debuggee]]


@pytest.fixture
def start(plain_debugpy: Callable[..., Debuggee], packages: Path | None, children: ExitStack) -> Start:
    """Return `start(source, **how)`, which runs a program and attaches to it. `how` goes to EnteredWorker.attach."""

    def start(source: str, **how: Any) -> tuple[EnteredWorker, Debuggee]:
        debuggee = plain_debugpy(source, packages)
        worker = EnteredWorker.attach(debuggee.host, debuggee.port, debuggee.path, children, **how)
        return worker, debuggee

    return start


@pytest.fixture(params=["agent", "adapter"])
def run_held(
    request: pytest.FixtureRequest, tmp_path: Path, packages: Path | None, children: ExitStack, start: Start
) -> RunHeld:
    """Return `run_held(source, *lines)`, which debugs HELD + source after `held("go")`, with these breakpoints."""

    def with_agent(source: str, *lines: int) -> HeldProgram:
        program = PreparedProgram.start(HELD + source, tmp_path, packages, children)
        program.called().close()
        worker = attach(program, program.dial(), children, *lines)
        (tmp_path / "go").touch()
        return HeldProgram(worker, program.child)

    def with_adapter(source: str, *lines: int) -> HeldProgram:
        worker, debuggee = start((HELD + source).replace('held("go")', "breakpoint()"), justMyCode=True)
        _, _, thread = worker.stop()
        wanted = [{"line": line} for line in lines]
        worker.client.request("setBreakpoints", source={"path": str(debuggee.path)}, breakpoints=wanted)
        assert worker.call(calls.resume_thread(thread)) == ""
        worker.client.wait_event("continued")
        return HeldProgram(worker, debuggee.child)

    if request.param == "adapter":
        return with_adapter
    request.getfixturevalue("debuggable")
    return with_agent


@pytest.fixture
def stops_for_exceptions(packages: Path | None) -> None:
    """Skip the test where debugpy itself fails at a stop for an exception."""
    if packages is not None and sys.version_info >= (3, 13):
        pytest.skip("debugpy 1.8.0 cannot stop for an exception on Python 3.13: it fails at the frame's variables")


@pytest.fixture
def debugpy_is_too_old(packages: Path | None) -> bool:
    """Return whether this debugpy cannot debug a program that is already running, as an agent does."""
    return packages is not None and sys.version_info >= (3, 12)


@pytest.fixture
def debuggable(debugpy_is_too_old: bool) -> None:
    """Skip the test where an agent cannot debug."""
    if debugpy_is_too_old:
        pytest.skip("debugpy 1.8.0 cannot debug a Python 3.12 that runs already; the agent reports it")
