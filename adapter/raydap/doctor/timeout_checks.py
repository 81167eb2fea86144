"""Checks for time limits that continue while a worker is stopped (analysis/ray_settings.py).

The limits of torch: the timeout of a process group ends the processes that wait in a collective operation for the
stopped one, unless TORCH_NCCL_ASYNC_ERROR_HANDLING is 0. torch's heartbeat monitor is left out: according to PyTorch's
manual ("ProcessGroupNCCL Environment Variables") it watches the watchdog, a thread of native code, which keeps running.
"""

from collections.abc import Iterator

from raydap.analysis.ray_settings import GROUP, LONG_S, PROBES, SAMPLES, TRAIN_GROUP
from raydap.cluster.dashboard.ray_facts import Row
from raydap.doctor.facts import Facts, ListedWorker, names
from raydap.doctor.finding import Finding, note, ok, warning
from raydap.doctor.variable_checks import settings

_SERVE_REPLICA = "ServeReplica:"

_SERVE_FIRST_WITH_PROBES = (2, 60)
"""The oldest version of Ray in which the probes were measured."""

_ENV_RUNNERS = ("SingleAgentEnvRunner", "MultiAgentEnvRunner", "RolloutWorker")

_TRAIN_WORKER = "RayTrainWorker"

_NO_ERROR_HANDLING = ("TORCH_NCCL_ASYNC_ERROR_HANDLING", "0")


def timeouts(facts: Facts) -> Iterator[Finding]:
    """Check for libraries whose time limits end a worker or its work while a worker is stopped."""
    found = [*_serve(facts), *_torch(facts), *_rllib(facts)]
    yield from found
    if not found:
        yield ok("raydap found no library whose time limits end a stopped worker.")


def _serve(facts: Facts) -> Iterator[Finding]:
    """Check the limits of Ray Serve, which ends a replica that fails its health checks.

    A replica that is stopped in an `async` method fails them.
    """
    replicas = [str(actor.get("class_name")) for actor in facts.actors]
    running = sorted({name.removeprefix(_SERVE_REPLICA) for name in replicas if name.startswith(_SERVE_REPLICA)})
    paused = {one.facts.actor.removeprefix(_SERVE_REPLICA) for one in facts.paused()}
    probes_off = (PROBES.setting, "0") in settings(facts) or _version(facts.ray_version) < _SERVE_FIRST_WITH_PROBES
    for name in running:
        limit = _seconds(facts.deployments.get(name, {}), "health_check_timeout_s", 30.0)
        limits = [f"after three health checks of {limit:g} s if it defines check_health"] if limit < LONG_S else []
        limits += [] if probes_off else [f"after {PROBES.default} if it defines none"]
        if limits:
            what = f"Ray Serve ends a replica of {name} that is stopped in an async method: {', and '.join(limits)}."
            why = "The replica is lost, together with its request and the stop. Raise the limits while you debug."
            options = f'{{"runtime_env": {{"env_vars": {{"{PROBES.setting}": "0"}}}}}}'
            command = f"@serve.deployment(health_check_timeout_s={LONG_S:g}, ray_actor_options={options})"
            yield (warning if name in paused else note)(what, why, command, name)


def _torch(facts: Facts) -> Iterator[Finding]:
    """Check for jobs whose processes may meet in collective operations, which time out while one process is stopped."""
    if _NO_ERROR_HANDLING in settings(facts):
        return
    jobs: dict[str, list[tuple[ListedWorker, bool]]] = {}
    for one, report in facts.processes():
        if "torch" in report.libraries and one.worker.worker_type == "WORKER":
            jobs.setdefault(one.facts.job, []).append((one, "nccl" in report.libraries))
    for job, members in jobs.items():
        if len(members) < 2:
            continue
        in_train = any(one.facts.actor == _TRAIN_WORKER for one, _ in members)
        has_nccl = any(nccl for _, nccl in members)
        limit = TRAIN_GROUP.default if in_train or not has_nccl else GROUP.default
        what = f"{names(one for one, _ in members)} have loaded torch. If they are a process group, workers that wait "
        what += f"in a collective operation for a stopped worker fail after {limit}."
        why = "torch then ends their processes. Whether they are a group, and its timeout, cannot be seen from outside."
        limit_set_by = TRAIN_GROUP if in_train else GROUP
        is_stopped = any(one.paused for one, _ in members)
        yield (warning if is_stopped else note)(what, why, limit_set_by.remedy, f"job {job}")


def _rllib(facts: Facts) -> Iterator[Finding]:
    runners = [one for one in facts.workers if one.facts.actor in _ENV_RUNNERS]
    if runners:
        what = f"RLlib drops the samples of {names(runners)} if they take longer than sample_timeout_s "
        what += f"(default: {SAMPLES.default})."
        why = "They do while one of them is stopped, with algorithms that alternate sampling and updates, such as PPO."
        is_stopped = any(one.paused for one in runners)
        yield (warning if is_stopped else note)(what, why, SAMPLES.remedy)


def _seconds(deployment: Row, name: str, default: float) -> float:
    value = deployment.get(name)
    return float(value) if isinstance(value, (int, float)) else default


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".")[:2] if part.isdigit())
