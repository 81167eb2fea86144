"""The variables of Ray's debugger, and the time limits that continue while a worker is stopped.

`raydap doctor`, the language server and the manual share these tables (tests/support/settings_tables.py writes those of
the manual). Sources: ray/util/rpdb.py for the variables; for the limits the files named at each row, and measurements
with Ray 2.60. Health checks of Ray itself and of Ray Train are left out: threads that keep running answer them.
"""

from dataclasses import dataclass

DEBUG = "RAY_DEBUG"
POST_MORTEM = "RAY_DEBUG_POST_MORTEM"

VALUES = {
    DEBUG: {
        "1": "`breakpoint()` waits for a debugger",
        "0": "it does nothing",
        "legacy": "it waits for a terminal, in Ray's old debugger",
    },
    POST_MORTEM: {"1": "a worker stops where an exception leaves the user's function", "0": "it does not"},
}
"""The values of each variable and their effects. Ray compares values literally, and ignores all others."""

DEFAULTS = {DEBUG: "1", POST_MORTEM: "0"}

LONG_S = 3600.0
"""Seconds. A limit of this length or more is long enough for debugging, and is not reported."""


@dataclass(frozen=True, slots=True)
class TimeLimit:
    """A time limit that continues while a worker is stopped."""

    setting: str
    """How a program sets it, for users."""
    default: str
    """How long it is if the program does not set it, for users."""
    effect: str
    """What happens when it is over, as the rest of a sentence."""
    remedy: str
    """What to write while debugging: code, or an assignment to an environment variable."""
    function: str = ""
    """The full name of the function or class that takes it, in whose calls the language server reads it; or ""."""
    argument: str = ""
    """The name of the argument of `function`."""
    position: int | None = None
    """The position of the argument; None if it can only be given by name."""
    unit_s: float = 1.0
    """The length of one unit of the argument, in seconds."""


_OTHERS_FAIL = "the workers that wait in a collective operation fail"

GROUP = TimeLimit(
    "torch.distributed.init_process_group(timeout=)",
    "10 minutes with NCCL, else 30",
    _OTHERS_FAIL,
    "torch.distributed.init_process_group(timeout=datetime.timedelta(days=1))",
    function="torch.distributed.init_process_group",
    argument="timeout",
    position=2,
)
"""PyTorch's manual. torch also ends the processes, unless TORCH_NCCL_ASYNC_ERROR_HANDLING is 0."""

TRAIN_GROUP = TimeLimit(
    "ray.train.torch.TorchConfig(timeout_s=)",
    "30 minutes",
    _OTHERS_FAIL,
    "TorchTrainer(..., torch_config=ray.train.torch.TorchConfig(timeout_s=86400))",
    function="ray.train.torch.TorchConfig",
    argument="timeout_s",
)
"""ray/train/torch/config.py."""

HEALTH_CHECK = TimeLimit(
    "@serve.deployment(health_check_timeout_s=)",
    "30 s, three times",
    "Serve ends the replica, if it is stopped in an `async` method and its class defines `check_health`",
    "@serve.deployment(health_check_timeout_s=3600)",
)
"""ray/serve/_private/constants.py, and docs/usage/session.md."""

PROBES = TimeLimit(
    "RAY_SERVE_USER_HEALTH_CHECK_PROBE_MAX_FAIL",
    "about 18 minutes",
    "Serve ends the replica, if it is stopped in an `async` method and its class defines no `check_health`",
    "RAY_SERVE_USER_HEALTH_CHECK_PROBE_MAX_FAIL=0",
)
"""The same file, since Ray 2.60."""

SAMPLES = TimeLimit(
    "AlgorithmConfig.env_runners(sample_timeout_s=)",
    "60 s",
    "RLlib drops the samples of the stopped EnvRunner, with algorithms such as PPO and DQN",
    "config.env_runners(sample_timeout_s=3600)",
)
"""The manual of RLlib: algorithms that alternate sampling and updates."""

TIME_LIMITS = (
    TimeLimit(
        "ray.get(timeout=)",
        "none",
        "ray.get raises `GetTimeoutError`",
        "ray.get(...)",
        function="ray.get",
        argument="timeout",
    ),
    TimeLimit(
        "asyncio.wait_for(timeout=)",
        "none",
        "it raises `TimeoutError`",
        "asyncio.wait_for(..., None)",
        function="asyncio.wait_for",
        argument="timeout",
        position=1,
    ),
    TimeLimit(
        "asyncio.timeout()",
        "none",
        "it raises `TimeoutError`",
        "asyncio.timeout(None)",
        function="asyncio.timeout",
        argument="delay",
        position=0,
    ),
    GROUP,
    TRAIN_GROUP,
    TimeLimit(
        "ray.util.collective.init_collective_group(gloo_timeout=)",
        "30 s",
        _OTHERS_FAIL,
        "init_collective_group(..., gloo_timeout=86_400_000)",
        function="ray.util.collective.init_collective_group",
        argument="gloo_timeout",
        position=4,
        unit_s=0.001,
    ),
    HEALTH_CHECK,
    PROBES,
    TimeLimit(
        "ray.serve.config.HTTPOptions(request_timeout_s=)",
        "none",
        "Serve ends the request",
        "HTTPOptions()",
        function="ray.serve.config.HTTPOptions",
        argument="request_timeout_s",
    ),
    TimeLimit(
        "DeploymentResponse.result(timeout_s=)",
        "none",
        "it raises `TimeoutError`",
        "response.result()",
    ),
    SAMPLES,
    TimeLimit(
        "RAY_CGRAPH_submit_timeout, RAY_CGRAPH_get_timeout",
        "10 s",
        "the driver's call of a compiled graph fails",
        "RAY_CGRAPH_submit_timeout=3600 RAY_CGRAPH_get_timeout=3600",
    ),
)
"""All limits, in the order of the manual."""
