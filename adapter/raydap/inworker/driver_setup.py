"""Gives each worker of a driver the agent; runs in the driver.

`ray.init` calls the function that RAY_RUNTIME_ENV_HOOK names with its runtime_env (ray/_private/worker.py,
_maybe_call_runtime_env_hook). The agent goes to the workers in that, by value, as a worker_process_setup_hook, which
Ray runs before the first task. So nothing has to be installed there.

The variable is set only while `ray.init` begins. A process that the program starts must not have it: it may have
another path for modules, and its own `ray.init` would fail for want of ours.
"""

import functools
import importlib
import importlib.util
import json
import os
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from .agent_code import child_settings, packed_code

VARIABLE = "RAY_RUNTIME_ENV_HOOK"

UV = "RAY_ENABLE_UV_RUN_RUNTIME_ENV"

UV_HOOK = "ray._private.runtime_env.uv_runtime_env_hook"

SETUP_HOOK = "worker_process_setup_hook"

SETUP_HOOK_VARIABLE = "__RAY_WORKER_PROCESS_SETUP_HOOK_ENV_VAR"
"""Where Ray keeps the setup hook of a job, in its env_vars (ray/_private/runtime_env/setup_hook.py). Ray refuses
another one then. In the environment of `ray start` it is the name of a function that each worker calls."""

POST_MORTEM = "RAY_DEBUG_POST_MORTEM"
"""Lets tasks that fail wait for a debugger (ray/util/debugpy.py). Ray does not give a driver's own to its workers,
which begin with the environment of their node."""

AGENT_HOOK = "raydap_agent"
"""The name of our setup hook. Ray's Jobs API and State API show it in the runtime_env of jobs and actors
(ray/_private/runtime_env/setup_hook.py)."""

CLUSTER_HOOK = "site.execsitecustomize"
"""The setup hook of all workers of a prepared cluster (for_cluster/sitecustomize.py)."""


class DriverSetup:
    """`raydap` is the path that the workers' agents call, or "" for those that they find. `folder` has the sources for
    the workers. `children`: subprocesses have agents, too."""

    def __init__(self, raydap: str, folder: str, children: bool = True) -> None:
        self.raydap = raydap
        self.children = children
        self.folder = folder
        self.called = False
        """Whether Ray has called our hook. A second `ray.init` of a program may have no need to."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Finds `ray`, once, for `sys.meta_path`, so that `init` is wrapped before anybody has it."""
        if name != "ray":
            return None
        finders: list[Any] = sys.meta_path
        finders.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            loader: Any = spec.loader
            execute = loader.exec_module

            def exec_module(module: ModuleType) -> None:
                execute(module)
                self.wrap_init(module)

            loader.exec_module = exec_module
        return spec

    def wrap_init(self, ray: Any) -> None:
        original: Any = ray.init

        @functools.wraps(original)
        def init(*args: Any, **kwargs: Any) -> Any:
            given = os.environ.get(VARIABLE)

            def hook(runtime_env: dict[str, Any] | None) -> dict[str, Any]:
                self.called = True
                _restore(given)
                wanted = _by_uv(runtime_env) if uv else _by_user(given, runtime_env)
                try:
                    return self.prepared(wanted)
                except Exception as error:
                    # For example in a process that lives longer than the driver of its job.
                    sys.stderr.write(f"raydap cannot debug the workers of this program: {error!r}\n")
                    return wanted

            globals()["hook"] = hook
            constants, uv = _uv_is_used()
            os.environ[VARIABLE] = f"{__name__}.hook"
            try:
                if uv:
                    setattr(constants, UV, False)
                context = original(*args, **kwargs)
            finally:
                _restore(given)
                if uv:
                    setattr(constants, UV, True)
            if not self.called and _has_workers(ray):
                sys.stderr.write(
                    "raydap cannot debug the workers of this program, because this version of Ray does not use "
                    f"{VARIABLE}.\n"
                )
            _tell_agent(self.raydap)
            return context

        ray.init = init
        # A function that uses it, by `from ray import init`, is pickled with its name in this module.
        module, name = sys.modules[original.__module__], original.__name__
        if module.__name__.startswith("ray.") and getattr(module, name, None) is original:
            setattr(module, name, init)

    def prepared(self, runtime_env: dict[str, Any]) -> dict[str, Any]:
        """The runtime_env with the agent. The user's own setup hook is called after it in the workers. That of a job
        cannot be, so it is left alone."""
        if _job_has_hook(runtime_env):
            sys.stderr.write(
                "raydap cannot debug the workers of this job, because its runtime_env has a "
                f"{SETUP_HOOK}; give that one to ray.init() instead.\n"
            )
            return runtime_env
        next_hook = runtime_env.get(SETUP_HOOK)
        if not _ray_accepts(next_hook):
            return runtime_env
        names = {
            "packed": packed_code(self.folder),
            "names": child_settings(self.folder, self.children),
            "raydap": self.raydap,
            "next_hook": None if next_hook == "" else next_hook,  # Ray's workers call nothing then.
        }
        with open(os.path.join(self.folder, "worker_setup.py"), encoding="utf-8") as file:
            code = file.read() + "\nset_up(lambda: unpacked(*packed), names, raydap, next_hook)\n"
        # `exec` is pickled by its name and the rest is text, so workers need no module of ours, and any Python version.
        set_up: Any = functools.partial(exec, code, names)
        set_up.__name__ = AGENT_HOOK
        return {**_with_post_mortem(runtime_env), SETUP_HOOK: set_up}


def _tell_agent(raydap: str) -> None:
    """Ray is imported now, and knows its session; when the driver's agent began it was not. `raydap` is as in
    DriverSetup."""
    agent: Any = sys.modules.get("_raydap_agent.agent")
    if agent is not None:
        breakpoint_hooks: Any = sys.modules["_raydap_agent.breakpoint_hooks"]
        breakpoint_hooks.override_rays_breakpoint(agent.current_debugger)
        try:
            agent.load()
            driver_agent: Any = sys.modules["_raydap_agent.driver_agent"]
            driver_agent.join_session()
            driver_agent.report_cluster(raydap)
        except Exception as error:
            sys.stderr.write(f"raydap cannot debug this driver: {error!r}\n")


def _has_workers(ray: Any) -> bool:
    """Whether the driver belongs to the cluster. A client of `ray://` does not."""
    try:
        return bool(ray._private.worker.global_worker.mode == ray.SCRIPT_MODE)
    except AttributeError:
        return False


def _uv_is_used() -> tuple[Any, bool]:
    """Ray's constants, and whether Ray would call its own hook for `uv run` instead of ours. Ray says there that ours
    is to call it then (ray/_private/ray_constants.py)."""
    constants: Any = sys.modules.get("ray._private.ray_constants")
    if not getattr(constants, UV, False):
        return constants, False
    try:
        hook = importlib.import_module(UV_HOOK)
        return constants, bool(vars(hook)["_get_uv_run_cmdline"]())
    except Exception:
        return constants, False  # Ray goes on as it would without us.


def _by_uv(runtime_env: dict[str, Any] | None) -> dict[str, Any]:
    """What Ray's hook makes of the runtime_env. Raises what that raises, as without us."""
    made: dict[str, Any] = vars(importlib.import_module(UV_HOOK))["hook"](runtime_env)
    return made


def _by_user(hook: str | None, runtime_env: dict[str, Any] | None) -> dict[str, Any]:
    """What the user's own hook makes of the runtime_env, if there is one."""
    if hook:
        module, _, name = hook.rpartition(".")
        runtime_env = getattr(importlib.import_module(module), name)(runtime_env)
    return dict(runtime_env or {})


def _job_has_hook(runtime_env: dict[str, Any]) -> bool:
    """Whether the submitted job that this driver belongs to has a setup hook. Ray has merged its runtime_env into this
    one before, or does so later, according to its version (ray/_private/worker.py, init)."""
    job = json.loads(os.environ.get("RAY_JOB_CONFIG_JSON_ENV_VAR", "{}")).get("runtime_env") or {}
    variables = {**(job.get("env_vars") or {}), **(runtime_env.get("env_vars") or {})}
    return SETUP_HOOK in job or SETUP_HOOK_VARIABLE in variables


def _ray_accepts(hook: Any) -> bool:
    """Whether `ray.init` takes this setup hook; it raises for any other one (ray/_private/runtime_env/setup_hook.py,
    and ray/_private/function_manager.py for the name). Behind ours Ray would not see it, and workers would fail."""
    return hook is None or isinstance(hook, str) or (callable(hook) and hasattr(hook, "__name__"))


def _with_post_mortem(runtime_env: dict[str, Any]) -> dict[str, Any]:
    """What the driver's environment says of post mortems holds for its workers, too, if they have no other word."""
    given = os.environ.get(POST_MORTEM)
    if given is None:
        return runtime_env
    return {**runtime_env, "env_vars": {POST_MORTEM: given, **(runtime_env.get("env_vars") or {})}}


def _restore(given: str | None) -> None:
    if given is None:
        os.environ.pop(VARIABLE, None)
    else:
        os.environ[VARIABLE] = given
