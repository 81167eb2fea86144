"""Checks of the versions of Ray, Python and debugpy: on the nodes, in the environments of jobs, and here."""

import json
import re
from collections.abc import Iterator

from raydap.cluster.dashboard.ray_facts import Row
from raydap.cluster.jobs.job_list import has_ended
from raydap.doctor.facts import Facts, names
from raydap.doctor.finding import Finding, error, note, ok, warning

OLDEST_DEBUGPY = (1, 8, 0)

OLDEST_PYTHON = (3, 10)

_OWN_ENVIRONMENTS = ("pip", "uv", "conda", "py_executable", "container", "image_uri")
"""Fields of a runtime_env that give workers another Python or other packages (ray/runtime_env/runtime_env.py)."""

_WANTED = "debugpy>=1.8,<1.10"
"""The versions of debugpy to install. Ray would refuse 1.10 (ray/util/debugpy.py, _try_import_debugpy)."""

_AS_DRIVER = "To reach workers on other nodes, raydap joins the cluster as a driver, which needs the same versions."


def ray(facts: Facts) -> Iterator[Finding]:
    """Check whether all nodes and raydap have the version of Ray that the head node has."""
    differing = [node for node, found in facts.common_environments() if found.ray not in ("", facts.ray_version)]
    if differing:
        have = "has" if len(differing) == 1 else "have"
        what = f"{names(differing)} {have} another version of Ray than the head node ({facts.ray_version})."
        yield error(what, "Ray processes of different versions do not work together.", _install(facts.ray_version))
    if facts.ray_version in ("", facts.here.ray):
        yield ok(f"raydap has the cluster's version of Ray, {facts.here.ray}.")
    else:
        what = f"raydap runs with Ray {facts.here.ray}, the cluster with Ray {facts.ray_version}."
        yield warning(what, _AS_DRIVER, _install(facts.ray_version))


def python(facts: Facts) -> Iterator[Finding]:
    """Check whether raydap can debug the workers' Python, and runs with the same minor version."""
    versions: dict[str, list[str]] = {}
    for node, found in facts.common_environments():
        versions.setdefault(found.python, []).append(node)
    for version, on in versions.items():
        if _numbers(version) < OLDEST_PYTHON:
            why = "raydap debugs Python 3.10 and newer; a worker there may not stop, or stop in the wrong place."
            yield warning(f"The workers on {names(on)} run Python {version}.", why)
        elif _numbers(version)[:2] != _numbers(facts.here.python)[:2]:
            what = f"raydap runs with Python {facts.here.python}, the workers on {names(on)} with Python {version}."
            yield warning(what, _AS_DRIVER, f"python{'.'.join(version.split('.')[:2])} -m pip install raydap")
        else:
            yield ok(f"The workers on {names(on)} run Python {version}, as raydap does.")


def debugpy(facts: Facts) -> Iterator[Finding]:
    """Check whether the nodes' common Python has a version of debugpy that Ray accepts."""
    for node_id, report in facts.reports.items():
        common = report.environments.get(report.python)
        if common is not None and common.problem:
            what = f"The workers' Python on {facts.node(node_id)} did not report its packages: {common.problem}."
            yield note(what, f"Its path is {report.python}.", subject=facts.node(node_id))
    versions: dict[str, list[str]] = {}
    for node, found in facts.common_environments():
        versions.setdefault(found.debugpy, []).append(node)
    for version, on in versions.items():
        yield _debugpy(version, f"The workers on {names(on)}", f"pip install '{_WANTED}'")


def runtime_env(facts: Facts) -> Iterator[Finding]:
    """Check debugpy in the environments of jobs and actors.

    Ray creates these environments itself, so one without a live worker cannot be inspected.
    """
    looked_at: dict[str, list[str]] = {}
    for one, report in facts.processes():
        node = facts.reports[one.worker.node_id]
        found = facts.environment(one, report)
        if report.python not in ("", node.python) and found is not None:
            looked_at.setdefault(found.debugpy, []).append(str(one))
    for version, workers in looked_at.items():
        yield _debugpy(version, names(workers), f'"runtime_env": {{"pip": ["{_WANTED}"]}}')
    for subject, own in _own_environments(facts):
        # Environments of pip and uv also have the packages of the cluster's Python; conda and images have not.
        if not looked_at and own not in ("pip", "uv"):
            what = f'The runtime_env of {subject} has "{own}", and none of its workers could be inspected.'
            why = "Without debugpy in that environment its workers skip every breakpoint()."
            yield note(what, why, f"pip install '{_WANTED}'", subject)


def _own_environments(facts: Facts) -> Iterator[tuple[str, str]]:
    """Yield each job and actor whose runtime_env creates an environment of its own, and the field that does so."""
    owners: list[tuple[str, Row]] = []
    for job in facts.jobs:
        if not has_ended(job):
            owners.append((f"job {job.get('submission_id') or job.get('job_id')}", _mapping(job.get("runtime_env"))))
    for actor in facts.actors:
        owners.append((f"actor {actor.get('class_name')}", read_runtime_env(actor)))
    for subject, environment in dict(owners).items():
        for own in _OWN_ENVIRONMENTS:
            if environment.get(own):
                yield subject, own


def read_runtime_env(actor: Row) -> Row:
    """Return the runtime_env in the row of an actor, {} if it has none."""
    try:
        return _mapping(json.loads(str(actor.get("serialized_runtime_env") or "{}")))
    except (ValueError, RecursionError):
        return {}


def _mapping(value: object) -> Row:
    return value if isinstance(value, dict) else {}


def _debugpy(version: str, who: str, command: str) -> Finding:
    if not version:
        why = "Ray skips every breakpoint() of a worker without debugpy, and reports that only in the worker's log."
        return error(f"{who} cannot import debugpy.", why, command)
    numbers = _numbers(version)
    if version != "unknown" and numbers < OLDEST_DEBUGPY:
        return error(
            f"{who}: debugpy {version} is too old.",
            "Ray requires 1.8.0 or newer, and skips every breakpoint().",
            command,
        )
    if version != "unknown" and version < "1.8.0":
        why = "Ray compares versions as text, so it finds this one too old and skips every breakpoint()."
        return error(f"{who}: debugpy {version} is too new.", why, command)
    return ok(f"{who}: debugpy {version}.")


def _install(version: str) -> str:
    return f"pip install 'ray[default]=={version}'"


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])
