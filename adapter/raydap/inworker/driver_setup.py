"""Agents for the workers of a driver; runs in the driver.

`ray.init` calls the function that RAY_RUNTIME_ENV_HOOK names with its runtime_env (ray/_private/worker.py,
_maybe_call_runtime_env_hook). That function adds the agent to the runtime_env by value, as a worker_process_setup_hook,
which Ray runs in each worker before the first task. So the workers need no installation of raydap.

The variable is set only while `ray.init` begins. Processes that the program starts must not inherit it: they may have
another module path, and then their own `ray.init` would fail because it could not import the function.
"""

import functools
import importlib
import importlib.util
import json
import os
import sys
from importlib.machinery import ModuleSpec
from typing import Any

from .bundle import AGENT, REST, child_settings, load, read_text
from .replaced_functions import call_after_import, install
from .terminal_session import open_session

VARIABLE = "RAY_RUNTIME_ENV_HOOK"

UV = "RAY_ENABLE_UV_RUN_RUNTIME_ENV"

UV_HOOK = "ray._private.runtime_env.uv_runtime_env_hook"

SETUP_HOOK = "worker_process_setup_hook"

SETUP_HOOK_VARIABLE = "__RAY_WORKER_PROCESS_SETUP_HOOK_ENV_VAR"
"""The variable in the env_vars of a job where Ray keeps the job's setup hook (ray/_private/runtime_env/setup_hook.py).
Ray refuses a second hook then. In the environment of `ray start` the variable is the name of a function that each
worker calls."""

POST_MORTEM = "RAY_DEBUG_POST_MORTEM"
"""The variable that lets failed tasks wait for a debugger (ray/util/debugpy.py). Ray does not copy it from a driver to
its workers, which begin with the environment of their node."""

AGENT_HOOK = "raydap_agent"
"""The name of raydap's setup hook. Ray's Jobs API and State API show it in the runtime_env of jobs and actors
(ray/_private/runtime_env/setup_hook.py)."""

CLUSTER_HOOK = "site.execsitecustomize"
"""The setup hook of all workers of a prepared cluster (for_cluster/sitecustomize.py)."""


class DriverSetup:
    """A finder that wraps `ray.init`, so that the workers of this driver have agents."""

    def __init__(self, raydap: str, folder: str, children: bool = True, terminal: str = "") -> None:
        self.raydap = raydap
        """The path that the workers' agents call, "" for the raydaps that they find."""
        self.children = children
        """Whether subprocesses have agents, too."""
        self.folder = folder
        """The folder of the sources for the workers."""
        self.terminal = terminal
        """The socket of a Ray Debug Terminal (terminal_session.py); "" if the program does not run in one."""
        self.called = False
        """Whether Ray has called raydap's hook. It may not need to at a second `ray.init`."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Find `ray`, once, with a loader that wraps `ray.init` before the program can use it."""
        if name != "ray":
            return None
        finders: list[Any] = sys.meta_path
        finders.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            call_after_import(spec.loader, self.wrap_init)
        return spec

    def wrap_init(self, ray: Any) -> None:
        """Replace `ray.init` with a function that sets raydap's hook while the original begins."""
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
                    # For example in a process that outlives the driver of its job.
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
            _report_to_agent(self.raydap, self.terminal)
            return context

        install("ray:init", init, ray)
        # Functions that use `from ray import init` are pickled with the module and the name of `init`, so these must
        # lead to the same function.
        if getattr(sys.modules.get("ray._private.worker"), "init", None) is original:
            install("ray._private.worker:init", init)

    def prepared(self, runtime_env: dict[str, Any]) -> dict[str, Any]:
        """Return the runtime_env with the agent.

        Workers call the user's own setup hook after raydap's. With the setup hook of a job that is not possible, so the
        runtime_env of such a job is not changed.
        """
        if _job_has_hook(runtime_env):
            sys.stderr.write(
                "raydap cannot debug the workers of this job, because its runtime_env sets "
                f"{SETUP_HOOK}; pass that hook to ray.init() instead.\n"
            )
            return runtime_env
        next_hook = runtime_env.get(SETUP_HOOK)
        if not _ray_accepts(next_hook):
            return runtime_env
        names = {
            "settings": child_settings(self.folder, self.children),
            "raydap": self.raydap,
            "next_hook": None if next_hook == "" else next_hook,  # Ray's workers ignore an empty name.
        }
        code = read_text(self.folder, "worker_setup.py")
        code += f"\nset_up(lambda: {load(self.folder, AGENT, *REST, compiled=True)}, settings, raydap, next_hook)\n"
        # `exec` is pickled by its name and the rest is text. So workers need no module of raydap, and may have any
        # Python version.
        set_up: Any = functools.partial(exec, code, names)
        set_up.__name__ = AGENT_HOOK
        return {**_with_post_mortem(runtime_env), SETUP_HOOK: set_up}


def _report_to_agent(raydap: str, terminal: str) -> None:
    """Let the driver's agent join Ray's session, and report the cluster.

    The agent began before Ray was imported, so it has to override Ray's breakpoint() now. `raydap` and `terminal` are
    as in DriverSetup.
    """
    agent: Any = sys.modules.get("_raydap_agent.agent")
    if agent is not None:
        try:
            if agent.AGENT is not None and agent.AGENT.session is not None:
                breakpoint_hooks: Any = sys.modules["_raydap_agent.breakpoint_hooks"]
                breakpoint_hooks.override_rays_breakpoint(agent.current_debugger)
                calls = getattr(agent.current_debugger(), "raydap_calls", None)
                if calls is not None:
                    calls.replace()  # Ray was not imported when the session began (call_sites.py).
            agent.load()
            driver_agent: Any = sys.modules["_raydap_agent.driver_agent"]
            driver_agent.join_session()
            if terminal and agent.current_debugger() is None:
                open_session(terminal, driver_agent.joined_cluster())
            driver_agent.report_cluster(raydap)
            if terminal:
                driver_agent.call_again(agent.AGENT)
        except Exception as error:
            sys.stderr.write(f"raydap cannot debug this driver: {error!r}\n")


def _has_workers(ray: Any) -> bool:
    """Return whether the driver belongs to the cluster. A client of `ray://` does not."""
    try:
        return bool(ray._private.worker.global_worker.mode == ray.SCRIPT_MODE)
    except AttributeError:
        return False


def _uv_is_used() -> tuple[Any, bool]:
    """Return Ray's constants, and whether Ray would call its own hook for `uv run` instead of raydap's.

    In that case Ray expects raydap's hook to call its own (ray/_private/ray_constants.py).
    """
    constants: Any = sys.modules.get("ray._private.ray_constants")
    if not getattr(constants, UV, False):
        return constants, False
    try:
        hook = importlib.import_module(UV_HOOK)
        return constants, bool(vars(hook)["_get_uv_run_cmdline"]())
    except Exception:
        return constants, False  # Ray continues as without raydap.


def _by_uv(runtime_env: dict[str, Any] | None) -> dict[str, Any]:
    """Return what Ray's own hook makes of the runtime_env. Raise what that hook raises, as without raydap."""
    made: dict[str, Any] = vars(importlib.import_module(UV_HOOK))["hook"](runtime_env)
    return made


def _by_user(hook: str | None, runtime_env: dict[str, Any] | None) -> dict[str, Any]:
    """Return what the user's own hook makes of the runtime_env, or a copy if there is no hook."""
    if hook:
        module, _, name = hook.rpartition(".")
        runtime_env = getattr(importlib.import_module(module), name)(runtime_env)
    return dict(runtime_env or {})


def _job_has_hook(runtime_env: dict[str, Any]) -> bool:
    """Return whether the submitted job that this driver belongs to has a setup hook.

    Depending on its version, Ray has already merged the job's runtime_env into this one, or does so later
    (ray/_private/worker.py, init).
    """
    job = json.loads(os.environ.get("RAY_JOB_CONFIG_JSON_ENV_VAR", "{}")).get("runtime_env") or {}
    variables = {**(job.get("env_vars") or {}), **(runtime_env.get("env_vars") or {})}
    return SETUP_HOOK in job or SETUP_HOOK_VARIABLE in variables


def _ray_accepts(hook: Any) -> bool:
    """Return whether `ray.init` accepts this setup hook; it raises for any other hook.

    Behind raydap's hook, Ray would not see a wrong one, and workers would fail. Source:
    ray/_private/runtime_env/setup_hook.py, and ray/_private/function_manager.py for the name.
    """
    return hook is None or isinstance(hook, str) or (callable(hook) and hasattr(hook, "__name__"))


def _with_post_mortem(runtime_env: dict[str, Any]) -> dict[str, Any]:
    """Return the runtime_env with the driver's own setting of post mortems, unless it has another one."""
    given = os.environ.get(POST_MORTEM)
    if given is None:
        return runtime_env
    return {**runtime_env, "env_vars": {POST_MORTEM: given, **(runtime_env.get("env_vars") or {})}}


def _restore(given: str | None) -> None:
    if given is None:
        os.environ.pop(VARIABLE, None)
    else:
        os.environ[VARIABLE] = given
