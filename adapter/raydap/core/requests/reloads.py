"""The request `raydap/reload`: new code for the functions of a file, without a restart (docs/requests.md)."""

from collections.abc import Callable, Iterable, Mapping

from raydap.analysis.sets import folding
from raydap.core.flows import Flow
from raydap.core.model.client import Client, ClientRole, Request
from raydap.core.model.state import State
from raydap.core.requests import selecting
from raydap.core.workers import attach, new_texts, reloading, worker_entries
from raydap.core.workers.reloading import ProcessReload
from raydap.errors import Code, Problem, ProblemError
from raydap.presentation.safe_text import one_line
from raydap.protocol.raydap_messages import WorkerEntry
from raydap.protocol.reload_messages import ReloadArguments, Reloaded, ReloadedPart
from raydap.protocol.types import WorkerKey


def reload_file(state: State, request: Request, arguments: ReloadArguments) -> Flow[Reloaded]:
    """Give all processes the new code of a file, then set the breakpoints of the file again.

    One process takes the code first. If the text does not compile there, no other process gets it.
    """
    run, client, path = state.run, request.client, arguments.path
    if client.role is ClientRole.CHILD:
        text = "A session of one worker cannot reload code; send the request to the session of all workers."
        raise ProblemError(Problem(Code.BAD_ARGUMENT, text))
    packed = new_texts.pack(arguments.text)
    yield from worker_entries.renew_in_parts(state, client)
    members = worker_entries.members(state)
    attached = [key for key, worker in state.workers.items() if worker.is_attached]
    reached = list(dict.fromkeys([*attached, *run.processes.prepared, *run.processes.paused]))
    answers: dict[WorkerKey, ProcessReload | ProblemError] = {}
    while reached and not any(isinstance(each, ProcessReload) for each in answers.values()):
        first = reached.pop(0)
        answers.update((yield from state.parts.gather({first: _one(state, request, first, path, packed)}, client)))
        one = answers[first]
        if isinstance(one, ProcessReload) and one.error:
            raise ProblemError(Problem(Code.NOT_RELOADED, f"{_file(path)} has not changed anything: {one.error}."))
    run.new_texts[path] = packed
    rest = {key: _one(state, request, key, path, packed) for key in reached}
    answers.update((yield from state.parts.gather(rest, client)))
    for group in list(run.breakpoints.groups()):
        if group.path == path:
            yield from attach.set_breakpoints_everywhere(state, group, client)
    # Ray keeps idle workers, which run none of the user's code.
    others = [WorkerKey(key) for key, each in members.items() if each.state != "gone" and (each.task or each.actor)]
    unreached = {key: "it has no agent and is not attached" for key in others if key not in answers}
    answer = _folded(path, answers, unreached, members)
    if "\n" in answer.text or not answer.unloaded:
        state.print_to_console(answer.text.partition("\n")[0])
    return answer


def _one(state: State, request: Request, key: WorkerKey, path: str, packed: str) -> Flow[ProcessReload]:
    return reloading.reload(state, key, path, packed, request.timeout_s)


def report_kept(state: State, keys: Iterable[WorkerKey], client: Client | None = None) -> None:
    """Report to this client, or to all, that the workers from which raydap detaches keep their new code."""
    run = state.run
    count = sum(key in run.reloaded and selecting.is_listed(state, key) for key in keys)
    if count:
        text = f"{_workers(count)} {'keeps' if count == 1 else 'keep'} the new code of {_files(run.new_texts)}."
        if client is None:
            state.print_to_console(text)
        else:
            client.event("output", {"category": "console", "output": f"{text}\n"})


def _folded(
    path: str,
    answers: Mapping[WorkerKey, ProcessReload | ProblemError],
    unreached: Mapping[WorkerKey, str],
    members: Mapping[str, WorkerEntry],
) -> Reloaded:
    done = {key: each for key, each in answers.items() if isinstance(each, ProcessReload) and not each.error}
    reasons = {key: [("", reason)] for key, reason in unreached.items()}
    for key, each in answers.items():
        if isinstance(each, ProblemError):
            reasons[key] = [("", each.problem.text)]
        elif each.error:
            reasons[key] = [("", each.error)]

    def parts(names: Callable[[ProcessReload], Iterable[tuple[str, str]]]) -> tuple[ReloadedPart, ...]:
        return _parts({key: names(each) for key, each in done.items()}, members)

    changed = parts(lambda each: [(name, "") for name in each.changed])
    added = parts(lambda each: [(name, "") for name in each.added])
    kept = parts(lambda each: each.kept)
    running = parts(lambda each: [(name, "") for name in each.running])
    unloaded = tuple(key for key, each in done.items() if not each.loaded)
    missing = _parts(reasons, members)
    if len(unloaded) == len(done) > 0:
        # An editor sends each file that is saved, so this is no news for other clients.
        return Reloaded((), (), (), (), missing, unloaded, f"{_file(path)}: no worker has loaded this file.")
    lines = [
        _summary(path, changed, added, kept, done, missing),
        *(f"  changed: {_part(each)}" for each in changed),
        *(f"  added: {_part(each)}" for each in added),
        *(f"  not changed: {_part(each)}" for each in kept),
        *(f"  runs its old code until its next call: {_part(each)}" for each in running),
        *(f"  not reached: {each.label}: {one_line(each.reason)}" for each in missing),
        *([f"  not loaded yet: {_workers(len(unloaded))}"] if unloaded else []),
    ]
    return Reloaded(
        changed=changed,
        added=added,
        kept=kept,
        running=running,
        unreached=missing,
        unloaded=unloaded,
        text="\n".join(lines),
    )


def _summary(
    path: str,
    changed: tuple[ReloadedPart, ...],
    added: tuple[ReloadedPart, ...],
    kept: tuple[ReloadedPart, ...],
    done: Mapping[WorkerKey, ProcessReload],
    missing: tuple[ReloadedPart, ...],
) -> str:
    """Return the first line of the text."""
    new = [each for each in (*changed, *added) if each.workers]
    if not done and not missing:
        return f"{_file(path)}: there is no worker yet; workers that start later get the new code."
    found = len({key for each in new for key in each.workers})
    if new:
        names = len({each.name for each in new})
        text = f"{_file(path)}: new code for {names} {'name' if names == 1 else 'names'} in {_workers(found)}"
    else:
        text = f"{_file(path)}: no function has changed"
    if kept:
        text += f"; {len({each.name for each in kept})} could not be changed"
    if missing:
        text += f"; {_workers(len({key for each in missing for key in each.workers}))} not reached"
    return f"{text}."


def _parts(
    found: Mapping[WorkerKey, Iterable[tuple[str, str]]], members: Mapping[str, WorkerEntry]
) -> tuple[ReloadedPart, ...]:
    workers: dict[tuple[str, str], list[WorkerKey]] = {}
    for key, names in found.items():
        for name in names:
            workers.setdefault(name, []).append(key)
    return tuple(
        ReloadedPart(
            name=name,
            reason=reason,
            workers=tuple(keys),
            label=folding.group_name(members[key] for key in keys if key in members),
        )
        for (name, reason), keys in sorted(workers.items())
    )


def _part(part: ReloadedPart) -> str:
    reason = f": {one_line(part.reason)}" if part.reason else ""
    return f"{one_line(part.name)} in {part.label}{reason}"


def _file(path: str) -> str:
    return one_line(path.replace("\\", "/").rpartition("/")[2])


def _files(paths: Iterable[str]) -> str:
    return ", ".join(sorted({_file(path) for path in paths}))


def _workers(count: int) -> str:
    return "1 worker" if count == 1 else f"{count} workers"
