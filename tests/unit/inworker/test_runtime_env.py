"""How the agent gets into the workers of a driver, without Ray: the runtime_env, and what runs in the worker."""

import importlib.util
import json
import pickle
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import raydap
from raydap.inworker.worker_setup import set_up

FILE = Path(raydap.__file__).parent / "inworker" / "for_ray" / "raydap_runtime_env.py"

CALLED: list[str] = []


@pytest.fixture
def module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("raydap_runtime_env", FILE)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, str]:
    """Those of a raydap that is there."""
    (tmp_path / "raydap").touch()
    given = {"raydap": str(tmp_path / "raydap"), "folder": str(tmp_path), "next_hook": ""}
    monkeypatch.setenv("RAYDAP_AGENT", json.dumps(given))
    return given


@pytest.fixture
def agent(monkeypatch: pytest.MonkeyPatch) -> None:
    """The module that set_up adds goes again."""
    monkeypatch.setitem(sys.modules, "_raydap_agent", ModuleType("_raydap_agent"))
    CALLED.clear()


def users_hook(runtime_env: dict[str, Any] | None) -> dict[str, Any]:
    return {**(runtime_env or {}), "pip": ["theirs"]}


def users_setup() -> None:
    CALLED.append("user")


@pytest.mark.usefixtures("settings")
def test_a_runtime_env_keeps_what_the_user_has_given(module: ModuleType) -> None:
    given = {"env_vars": {"A": "1"}, "working_dir": "."}
    hooked = module.hook(given)
    assert {name: value for name, value in hooked.items() if name != "worker_process_setup_hook"} == given
    assert "worker_process_setup_hook" not in given
    assert callable(module.hook(None)["worker_process_setup_hook"])


@pytest.mark.usefixtures("settings")
def test_the_workers_need_no_module_of_ours(module: ModuleType) -> None:
    """Ray pickles the hook; what it names by reference has to be there."""
    assert b"raydap_runtime_env" not in pickle.dumps(module.hook(None)["worker_process_setup_hook"])


@pytest.mark.usefixtures("settings")
def test_ray_finds_a_name_for_it(module: ModuleType) -> None:
    assert module.hook(None)["worker_process_setup_hook"].__name__ == "raydap_agent"


@pytest.mark.parametrize("there", ["", '{"raydap": "/nowhere/at/all"}'])
def test_without_raydap_nothing_is_added(module: ModuleType, monkeypatch: pytest.MonkeyPatch, there: str) -> None:
    monkeypatch.setenv("RAYDAP_AGENT", there or "{}")
    assert module.hook(None) == {}
    assert module.hook({"pip": ["x"]}) == {"pip": ["x"]}


def test_the_users_own_hook_comes_first(
    module: ModuleType, settings: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"{__name__}.users_hook"
    monkeypatch.setitem(sys.modules, __name__, sys.modules[users_hook.__module__])
    monkeypatch.setenv("RAYDAP_AGENT", json.dumps({**settings, "next_hook": name}))
    assert module.hook(None)["pip"] == ["theirs"]


AGENT = "def start_in_worker(raydap):\n    print('called', raydap)\n"
THREADS = "def current_debugger(): pass\ndef trace_actor_threads(debugger): pass\n"


@pytest.mark.usefixtures("agent")
@pytest.mark.parametrize("next_hook", [users_setup, f"{__name__}.users_setup", None])
def test_a_worker_starts_the_agent_and_then_the_users_hook(next_hook: Any, capsys: pytest.CaptureFixture[str]) -> None:
    set_up([AGENT, THREADS], "/raydap", next_hook)
    assert capsys.readouterr().out == "called /raydap\n"
    assert ["user"] * (next_hook is not None) == CALLED


@pytest.mark.usefixtures("agent")
@pytest.mark.parametrize("source", ["no Python", "def start_in_worker(raydap):\n    raise OSError('no socket')\n"])
def test_an_agent_that_does_not_start_harms_no_worker(source: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Ray ends a worker whose setup hook raises."""
    set_up([source, THREADS], "/raydap", users_setup)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("raydap cannot debug this worker: ")
    assert CALLED == ["user"]


@pytest.mark.usefixtures("agent")
def test_a_users_hook_that_raises_still_does() -> None:
    def fail() -> None:
        raise ValueError("theirs")

    with pytest.raises(ValueError, match="theirs"):
        set_up([AGENT, THREADS], "/raydap", fail)
