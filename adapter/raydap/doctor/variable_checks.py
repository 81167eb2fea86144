"""Checks of the environment variables that change Ray's debugger, on nodes and in processes, jobs and actors."""

from collections.abc import Iterator

from raydap.analysis.ray_settings import DEBUG, VALUES
from raydap.cluster.jobs.job_list import has_ended
from raydap.doctor.facts import Facts, names
from raydap.doctor.finding import Finding, note, ok, warning
from raydap.doctor.version_checks import read_runtime_env
from raydap.lsp.analysis.findings import TextSpan
from raydap.lsp.rules import debug_variables
from raydap.lsp.rules.debug_variables import Variable

_NOWHERE = TextSpan(0, 0, 0, 0)


def legacy(facts: Facts) -> Iterator[Finding]:
    """Check whether Ray's old debugger is used, whose breakpoints are sockets of pdb."""
    users = settings(facts).get((DEBUG, "legacy"), [])
    external = [facts.node(node_id) for node_id, report in facts.reports.items() if report.external_debugger]
    if facts.legacy:
        where = names(f"{one.name or 'worker'} at {one.path}:{one.line}" for one in facts.legacy)
        waiting = "A breakpoint waits" if len(facts.legacy) == 1 else f"{len(facts.legacy)} breakpoints wait"
        what = f"{waiting} for Ray's old debugger: {where}."
        command = f"raydap debug --dashboard {facts.dashboard}" if facts.dashboard else "raydap debug"
        one = f" pid:{facts.legacy[0].pid}" if len(facts.legacy) == 1 else ""
        why = "An editor cannot attach there; `pdb` in `raydap debug` joins one in a terminal."
        yield warning(what, why, command + one)
    if users:
        what = f"RAY_DEBUG=legacy is set for {names(users)}."
        why = "It switches to Ray's old debugger: breakpoint() then waits for a terminal, and an editor cannot attach."
        if "legacy" in facts.missing:
            why += f" raydap cannot check whether breakpoints wait: {facts.missing['legacy']}."
        yield warning(what, why, _set(users[0], DEBUG, "1"), users[0])
    if external:
        what = f"{names(external)} {'was' if len(external) == 1 else 'were'} started with --ray-debugger-external."
        why = "It affects only the old debugger: each breakpoint() then opens a pdb to the network, without a token."
        yield (warning if users or facts.legacy else note)(what, why, "ray start --head")
    if not (facts.legacy or users or external):
        yield ok("Nothing uses Ray's old debugger.")


def spelling(facts: Facts) -> Iterator[Finding]:
    """Check for misspelt names and for values that Ray does not know, as the language server does in programs."""
    good = True
    users: dict[str, list[str]] = {}
    commands: dict[str, tuple[str, str]] = {}
    for (name, value), users_of_it in settings(facts).items():
        if (name, value) == (DEBUG, "legacy"):
            continue
        if (name, value) == (DEBUG, "0"):
            good = False
            what = f"RAY_DEBUG=0 is set for {names(users_of_it)}."
            command = _set(users_of_it[0], DEBUG, "1")
            yield warning(what, "breakpoint() has no effect there.", command, users_of_it[0])
        for found in debug_variables.check(Variable(name, _NOWHERE, value, _NOWHERE)):
            right = found.fixes[0].edits[0].text.strip('"')
            users.setdefault(found.message, []).extend(users_of_it)
            commands[found.message] = (right, "1") if found.code == debug_variables.NAME else (name, right)
    for message, who in users.items():
        yield warning(message, f"It is set for {names(who)}.", _set(who[0], *commands[message]), who[0])
    if good and not users:
        yield ok(f"The variables {' and '.join(VALUES)} are spelled correctly where they are set.")


def breakpoint_hook(facts: Facts) -> Iterator[Finding]:
    """Check for drivers that were started with PYTHONBREAKPOINT.

    Ray replaces the hook in workers (ray/_private/worker.py, connect), but in drivers only at ray.init().
    """
    drivers = [
        (str(one), report.variables["PYTHONBREAKPOINT"])
        for one, report in facts.processes()
        if one.worker.worker_type == "DRIVER" and _is_users(report.variables.get("PYTHONBREAKPOINT", ""))
    ]
    for driver, value in drivers:
        what = f"{driver} was started with PYTHONBREAKPOINT={value}."
        effect = "does nothing" if value == "0" else f"calls {value}"
        why = f"Until ray.init(), its breakpoint() {effect}. After that it uses Ray's debugger."
        yield note(what, why, "unset PYTHONBREAKPOINT", driver)
    if not drivers:
        yield ok("No driver was started with PYTHONBREAKPOINT.")


def _is_users(hook: str) -> bool:
    """Return whether the user has set the hook. The driver of a submitted job inherits Ray's hook from a worker."""
    return hook != "" and not hook.startswith("ray.")


def settings(facts: Facts) -> dict[tuple[str, str], list[str]]:
    """Return each variable that is set, with its value, and the nodes, jobs, actors and processes that have it.

    A process is not listed for a variable that comes from its node, its job, or its actor's runtime_env.
    """
    found: dict[tuple[str, str], list[str]] = {}
    for node_id, node in facts.reports.items():
        for item in node.variables.items():
            found.setdefault(item, []).append(f"node {facts.node(node_id)}")
    of_jobs: dict[str, dict[str, str]] = {}
    for job in facts.jobs:
        if not has_ended(job):
            variables = of_jobs[str(job.get("job_id"))] = _env_vars(job.get("runtime_env"))
            for item in variables.items():
                found.setdefault(item, []).append(f"job {job.get('submission_id') or job.get('job_id')}")
    of_actors: dict[int, dict[str, str]] = {}
    for actor in facts.actors:
        # Ray adds the variables of the job to an actor's runtime_env.
        inherited = of_jobs.get(str(actor.get("job_id")), {})
        variables = _env_vars(read_runtime_env(actor))
        of_actors[int(actor.get("pid") or 0)] = variables
        for item in variables.items() - inherited.items():
            found.setdefault(item, []).append(f"actor {actor.get('class_name')}")
    for one, process in facts.processes():
        inherited = {**of_jobs.get(one.facts.job, {}), **of_actors.get(one.worker.pid, {})}
        for name, value in sorted(process.variables.items() - facts.reports[one.worker.node_id].variables.items()):
            if name not in inherited:
                found.setdefault((name, value), []).append(str(one))
    return found


def _env_vars(environment: object) -> dict[str, str]:
    variables = environment.get("env_vars") if isinstance(environment, dict) else None
    return {str(name): str(value) for name, value in variables.items()} if isinstance(variables, dict) else {}


def _set(user: str, name: str, value: str) -> str:
    """Return the line that sets the variable for `user`, one of the names from `settings`.

    For a node or a driver it is a command for the shell that starts it, otherwise a runtime_env.
    """
    if user.startswith(("node ", "driver ")):
        return f"export {name}={value}"
    return f'"runtime_env": {{"env_vars": {{"{name}": "{value}"}}}}'
