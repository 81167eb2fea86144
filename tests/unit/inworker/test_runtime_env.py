"""How the agent gets into the workers of a driver, without Ray: the runtime_env, and the code in the worker."""

import importlib.util
import json
import os
import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import raydap
from raydap.inworker import bundle
from raydap.inworker.driver_setup import POST_MORTEM, UV, UV_HOOK, VARIABLE, DriverSetup
from raydap.inworker.loader import remove
from raydap.inworker.worker_setup import set_up

SOURCES = str(Path(raydap.__file__).parent / "inworker")

COMPILE = compile

CALLED: list[str] = []


@pytest.fixture
def setup(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> DriverSetup:
    monkeypatch.delenv(VARIABLE, raising=False)
    return DriverSetup(str(tmp_path / "raydap"), SOURCES)


@pytest.fixture
def no_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove the module that set_up adds, after the test."""
    monkeypatch.setitem(sys.modules, "_raydap_agent", ModuleType("_raydap_agent"))
    CALLED.clear()


def users_hook(runtime_env: dict[str, Any] | None) -> dict[str, Any]:
    return {**(runtime_env or {}), "pip": ["theirs"]}


def users_setup() -> None:
    CALLED.append("user")


class Ray:
    """Stands in for Ray: `init` calls the hook in the environment, and returns its result and what children inherit."""

    @staticmethod
    def init(runtime_env: dict[str, Any] | None = None) -> tuple[dict[str, Any] | None, str | None]:
        module, _, name = os.environ[VARIABLE].rpartition(".")
        made = getattr(sys.modules[module], name)(runtime_env)
        return made, os.environ.get(VARIABLE)


def test_a_runtime_env_keeps_what_the_user_has_given(setup: DriverSetup) -> None:
    given = {"env_vars": {"A": "1"}, "working_dir": "."}
    made = setup.prepared(given)
    assert {name: value for name, value in made.items() if name != "worker_process_setup_hook"} == given
    assert "worker_process_setup_hook" not in given
    assert made["worker_process_setup_hook"].__name__ == "raydap_agent"


class Nameless:
    def __call__(self) -> None:
        pass


@pytest.mark.parametrize("hook", [0, 5, ["their.hook"], Nameless()])
def test_a_setup_hook_that_ray_refuses_is_given_to_ray(setup: DriverSetup, hook: Any) -> None:
    """Called after raydap's hook, it would fail in each worker, or even run."""
    given = {"worker_process_setup_hook": hook}
    assert setup.prepared(given) == given


def test_an_empty_setup_hook_is_none(setup: DriverSetup) -> None:
    made = setup.prepared({"worker_process_setup_hook": ""})
    assert made["worker_process_setup_hook"].args[1]["next_hook"] is None


@pytest.mark.parametrize(
    ("runtime_env", "job"),
    [
        ({"env_vars": {"__RAY_WORKER_PROCESS_SETUP_HOOK_ENV_VAR": "their.hook"}}, None),
        ({}, {"env_vars": {"__RAY_WORKER_PROCESS_SETUP_HOOK_ENV_VAR": "their.hook"}}),
        ({"pip": ["theirs"]}, {"worker_process_setup_hook": "their.hook"}),
    ],
)
def test_the_hook_of_a_job_stays_alone(
    setup: DriverSetup,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    runtime_env: dict[str, Any],
    job: dict[str, Any] | None,
) -> None:
    """Ray would refuse a second hook, and the program would end."""
    monkeypatch.setenv("RAY_JOB_CONFIG_JSON_ENV_VAR", json.dumps({"runtime_env": job, "metadata": {}}))
    assert setup.prepared(runtime_env) == runtime_env
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("raydap cannot debug the workers of this job, because ")


@pytest.mark.parametrize("job", [None, {"env_vars": {"A": "1"}, "working_dir": "."}])
def test_other_jobs_have_the_agent(
    setup: DriverSetup, monkeypatch: pytest.MonkeyPatch, job: dict[str, Any] | None
) -> None:
    monkeypatch.setenv("RAY_JOB_CONFIG_JSON_ENV_VAR", json.dumps({"runtime_env": job, "metadata": {}}))
    assert callable(setup.prepared({"env_vars": None})["worker_process_setup_hook"])


def test_the_workers_need_no_module_of_ours(setup: DriverSetup) -> None:
    """Ray pickles the hook. Modules that it refers to by name must exist in the worker."""
    assert (
        b"raydap.inworker" not in pickle.dumps(setup.prepared({})["worker_process_setup_hook"]).split(b"def set_up")[0]
    )


def test_no_process_that_the_program_starts_has_our_hook(setup: DriverSetup) -> None:
    ray: Any = SimpleNamespace(init=Ray.init)
    setup.wrap_init(ray)
    for _ in range(2):
        made, left = ray.init()
        assert callable(made["worker_process_setup_hook"])
        assert left is None
        assert VARIABLE not in os.environ


def test_the_users_own_hook_is_called_and_stays(setup: DriverSetup, monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = ModuleType("theirs")
    vars(theirs)["hook"] = users_hook
    monkeypatch.setitem(sys.modules, "theirs", theirs)
    monkeypatch.setenv(VARIABLE, "theirs.hook")
    ray: Any = SimpleNamespace(init=Ray.init)
    setup.wrap_init(ray)
    made, left = ray.init({"working_dir": "."})
    assert (made["pip"], made["working_dir"], left) == (["theirs"], ".", "theirs.hook")
    assert os.environ[VARIABLE] == "theirs.hook"


def test_a_function_that_uses_init_is_pickled_by_its_name(setup: DriverSetup, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a worker, that name is Ray's own function, or a function that is prepared there."""
    module = ModuleType("ray._private.worker")
    exec("def init(): pass", vars(module))
    monkeypatch.setitem(sys.modules, "ray", ModuleType("ray"))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    original = module.init
    ray: Any = SimpleNamespace(init=original)
    setup.wrap_init(ray)
    assert ray.init is not original
    assert pickle.loads(pickle.dumps(ray.init)) is ray.init


def test_init_succeeds_though_our_files_are_gone(
    setup: DriverSetup, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A process that outlives the driver of its job is in this situation."""
    setup.folder = str(tmp_path / "gone")
    ray: Any = SimpleNamespace(init=Ray.init)
    setup.wrap_init(ray)
    made, left = ray.init({"pip": ["theirs"]})
    assert (made, left) == ({"pip": ["theirs"]}, None)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("raydap cannot debug the workers of this program: FileNotFoundError(")


def test_an_init_that_fails_leaves_nothing_behind(setup: DriverSetup) -> None:
    def fail() -> None:
        raise RuntimeError("no cluster")

    ray: Any = SimpleNamespace(init=fail)
    setup.wrap_init(ray)
    with pytest.raises(RuntimeError, match="no cluster"):
        ray.init()
    assert VARIABLE not in os.environ


@pytest.mark.parametrize("is_run", [True, False])
def test_a_program_of_uv_run_has_both_hooks(setup: DriverSetup, monkeypatch: pytest.MonkeyPatch, is_run: bool) -> None:
    """There, Ray calls only its own hook."""
    constants, uv = ModuleType("constants"), ModuleType("uv")
    vars(constants)[UV] = True
    command = ["uv", "run"] if is_run else None
    vars(uv).update(
        _get_uv_run_cmdline=lambda: command, hook=lambda given: {**(given or {}), "py_executable": "uv run"}
    )
    monkeypatch.setitem(sys.modules, "ray._private.ray_constants", constants)
    monkeypatch.setitem(sys.modules, UV_HOOK, uv)
    seen = []

    def init(runtime_env: dict[str, Any] | None = None) -> Any:
        seen.append(vars(constants)[UV])
        return Ray.init(runtime_env)[0]

    ray: Any = SimpleNamespace(init=init)
    setup.wrap_init(ray)
    made = ray.init({"working_dir": "."})
    assert callable(made["worker_process_setup_hook"])
    assert made.get("py_executable") == ("uv run" if is_run else None)
    assert (seen, vars(constants)[UV]) == ([not is_run], True)


@pytest.mark.parametrize(("mode", "lines"), [(0, 1), (None, 0)])
def test_a_ray_that_does_not_call_the_hook_is_reported(
    setup: DriverSetup, capsys: pytest.CaptureFixture[str], mode: int | None, lines: int
) -> None:
    """Breakpoints would be skipped silently. A client of `ray://` starts no workers, and gets no warning."""
    worker = SimpleNamespace(global_worker=SimpleNamespace(mode=mode))
    ray: Any = SimpleNamespace(init=dict, SCRIPT_MODE=0, _private=SimpleNamespace(worker=worker))
    setup.wrap_init(ray)
    assert ray.init() == {}
    said = capsys.readouterr().err.splitlines()
    assert len(said) == lines
    assert all(line.startswith("raydap cannot debug the workers of this program, because ") for line in said)


def test_ray_is_wrapped_as_it_is_imported(setup: DriverSetup, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "ray.py").write_text("import os\ndef init():\n    return os.environ['RAY_RUNTIME_ENV_HOOK']\n")
    monkeypatch.delitem(sys.modules, "ray", raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "meta_path", [setup, *sys.meta_path])
    import ray

    assert ray.init() == "raydap.inworker.driver_setup.hook"
    assert setup not in sys.meta_path
    del sys.modules["ray"]  # monkeypatch would restore this one after the test.


AGENT = """\
def start_in_worker(raydap, settings):
    print('called', raydap, settings)
"""


def agent(text: str = AGENT) -> Callable[[], Any]:
    def load() -> Any:
        module = ModuleType("driver_agent")
        exec(text, vars(module))
        return SimpleNamespace(driver_agent=module)

    return load


@pytest.mark.usefixtures("no_agent")
@pytest.mark.parametrize("next_hook", [users_setup, f"{__name__}.users_setup", None])
def test_a_worker_starts_the_agent_and_then_the_users_hook(next_hook: Any, capsys: pytest.CaptureFixture[str]) -> None:
    set_up(agent(), {"CHILDREN": False}, "/raydap", next_hook)
    assert capsys.readouterr().out == "called /raydap {'CHILDREN': False}\n"
    assert ["user"] * (next_hook is not None) == CALLED


@pytest.mark.usefixtures("no_agent")
@pytest.mark.parametrize(
    "source", ["no Python", "def start_in_worker(raydap, settings):\n    raise OSError('no socket')\n"]
)
def test_an_agent_that_does_not_start_harms_no_worker(source: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Ray ends a worker whose setup hook raises."""
    set_up(agent(source), {}, "/raydap", users_setup)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("raydap cannot debug this worker: ")
    assert CALLED == ["user"]


@pytest.mark.usefixtures("no_agent")
def test_a_users_hook_that_raises_still_does() -> None:
    def fail() -> None:
        raise ValueError("theirs")

    with pytest.raises(ValueError, match="theirs"):
        set_up(agent(), {}, "/raydap", fail)


@pytest.mark.parametrize("version", ["the same Python", "another Python"])
def test_a_worker_reads_what_its_driver_has_packed(monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    """Another version of Python compiles the code itself."""
    code = bundle.load(SOURCES, "_raydap_agent.test", *bundle.REST, compiled=True)
    if version != "the same Python":
        monkeypatch.setattr(importlib.util, "MAGIC_NUMBER", b"another")
    compiled = []

    def compiling(*args: Any, **named: Any) -> Any:
        compiled.append(args)
        return COMPILE(*args, **named)

    monkeypatch.setattr("builtins.compile", compiling)
    try:
        own = eval(code)
    finally:
        remove("_raydap_agent.test")
    found = bundle.find_modules(SOURCES)
    assert {*vars(own)} >= {*found.idle, *found.rest}
    assert own.driver_agent.start_in_worker.__code__.co_filename == "<raydap agent>"
    assert own.driver_agent.start is own.agent.start
    assert bool(compiled) is (version != "the same Python")
    assert not [name for name in sys.modules if f"{name}.".startswith("_raydap_agent.test.")]


def test_workers_have_the_drivers_setting_for_post_mortems(setup: DriverSetup, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(POST_MORTEM, "1")
    assert setup.prepared({})["env_vars"] == {POST_MORTEM: "1"}
    assert setup.prepared({"env_vars": {POST_MORTEM: "0", "A": "1"}})["env_vars"] == {POST_MORTEM: "0", "A": "1"}
