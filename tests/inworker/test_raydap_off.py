"""`RAYDAP=off` in the environment of a process keeps it and its children free of raydap."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import NoReturn

import pytest

from raydap.errors import SWITCHED_OFF
from raydap.inworker.injected_agent import start_injected_agent
from raydap.inworker.worker_setup import set_up
from raydap.runtime import prepared_environment
from support.agents import raydap_that_debugs_nothing

pytestmark = pytest.mark.core

# Each process prints whether it has an agent, and what its environment has of raydap.
PROGRAM = """\
import os, subprocess, sys
def report(who):
    added = [name for name in ("RAYDAP_AGENT", "PYTHONPATH") if name in os.environ]
    agent = sys.modules.get("_raydap_agent.agent")
    serves = agent is not None and agent.AGENT.is_served
    print(who, serves, added, [each for each in sys.path if "at_start" in each], flush=True)
if sys.argv[1:]:
    report("child")
else:
    report("program")
    {change}
    subprocess.run([sys.executable, __file__, "child"])
    if os.fork() == 0:
        report("forked")
        os._exit(0)
    os.wait()
"""


@pytest.fixture
def raydap(tmp_path: Path) -> Iterator[str]:
    """Yield the path of a raydap that debugs nothing."""
    with raydap_that_debugs_nothing(str(tmp_path / "raydap")):
        yield str(tmp_path / "raydap")


@pytest.mark.parametrize(
    ("value", "change", "has_agent"),
    [
        ("off", "", (False, False, False)),
        ("on", "", (True, True, True)),
        ("on", "os.environ['RAYDAP'] = 'off'", (True, False, False)),
    ],
)
def test_a_program_and_its_children(
    raydap: str, tmp_path: Path, value: str, change: str, has_agent: tuple[bool, bool, bool]
) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM.format(change=change))
    environ = {name: each for name, each in os.environ.items() if name != "PYTHONPATH"}
    environ |= prepared_environment.driver(environ, raydap, str(tmp_path)) | {"RAYDAP": value}
    done = subprocess.run([sys.executable, str(path)], env=environ, capture_output=True, text=True, check=True)
    names = ("program", "child", "forked")
    expected = [f"{name} {has} [] []" for name, has in zip(names, has_agent, strict=True)]
    assert done.stdout.splitlines() == expected


@pytest.mark.parametrize("options", [[], ["--wait"]])
def test_raydap_run_prints_that_it_has_no_effect(tmp_path: Path, options: list[str]) -> None:
    path = tmp_path / "program.py"
    path.write_text("print('runs')")
    environ = {**os.environ, "RAYDAP": "off", "XDG_RUNTIME_DIR": str(tmp_path)}
    command = [sys.executable, "-m", "raydap", "run", *options, str(path)]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=True)
    assert done.stdout == "runs\n"
    assert done.stderr == f"raydap: {path}: {SWITCHED_OFF}\n"


def no_code() -> NoReturn:
    raise AssertionError("an agent starts")


def test_a_worker_runs_its_own_hook_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAYDAP", "off")
    monkeypatch.delitem(sys.modules, "_raydap_agent", raising=False)
    called: list[str] = []
    set_up(no_code, {}, "", lambda: called.append("user"))
    assert called == ["user"]
    assert "_raydap_agent" not in sys.modules


def test_a_running_worker_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAYDAP", "off")
    ray = ModuleType("ray")
    exec("class _private:\n class worker:\n  class global_worker:\n   worker_id = bytes(2)", vars(ray))
    monkeypatch.setitem(sys.modules, "ray", ray)
    monkeypatch.delitem(sys.modules, "_raydap_agent", raising=False)
    assert start_injected_agent(no_code, {}, "0000") == "RAYDAP=off is in its environment"
    assert "_raydap_agent" not in sys.modules
