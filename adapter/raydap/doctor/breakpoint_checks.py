"""Checks why a breakpoint is not hit: its line, where workers have its file, and whether a worker would stop there.

The checks look at processes from outside. So they cannot find out which modules a worker has imported, or which lines
it will execute.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from types import CodeType

from raydap.cluster.survey.node_reports import FoundFile, ProcessReport
from raydap.core.translate import paths
from raydap.doctor.facts import Facts, ListedWorker, SourceBreakpoint, names
from raydap.doctor.finding import Finding, note, ok, warning
from raydap.presentation.numbers import counted

_LIBRARIES = ("/site-packages/", "/dist-packages/")

Process = tuple[ListedWorker, ProcessReport]


def breakpoints(facts: Facts) -> Iterator[Finding]:
    """Check each breakpoint of the user and of the sessions that run."""
    for one in facts.breakpoints:
        if one.verified:
            yield ok(f"{one} is set. {one.message}".rstrip())
            continue
        if one.message:
            what = f"{one} is not set in every worker: {one.message}"
            yield note(what, "A debug session reports this.", subject=str(one))
        if one.source is not None:
            yield from line(one, one.source)
            yield from _processes(facts, one)


def code_lines(source: bytes, path: str) -> set[int]:
    """Return the lines at which pydevd can stop. Raises SyntaxError and ValueError."""
    codes: list[object] = [compile(source, path, "exec", dont_inherit=True)]
    lines: set[int] = set()
    while codes:
        code = codes.pop()
        if isinstance(code, CodeType):
            lines.update(line for _, _, line in code.co_lines() if line)
            codes.extend(code.co_consts)
    return lines


def line(one: SourceBreakpoint, source: bytes) -> Iterator[Finding]:
    """Check whether the line has code.

    If not, pydevd stops at the last line before it that has code (pydevd_api.py, add_breakpoint).
    """
    try:
        lines = code_lines(source, str(one.path))
    except (SyntaxError, ValueError) as error:
        what = f"raydap cannot parse {one.path.name} ({error})."
        yield note(what, "It cannot check whether the line has code.", subject=str(one))
        return
    if one.line in lines:
        return
    before = max((line for line in lines if line < one.line), default=None)
    what = f"Line {one.line} of {one.path.name} has no code"
    if before is None or one.line > source.count(b"\n") + 1:
        yield warning(f"{what}.", "Debuggers cannot stop there.", subject=str(one))
    else:
        why = "Comments, empty lines and lines that continue a statement have no code of their own."
        yield note(f"{what}: debuggers stop at line {before} instead.", why, subject=str(one))


def _processes(facts: Facts, one: SourceBreakpoint) -> Iterator[Finding]:
    path = str(one.path)
    processes = list(facts.processes())
    if not processes:
        why = "If you start the program like this, its workers have the breakpoint from their first line on."
        yield note(f"No running worker could stop at {one}.", why, f"raydap run {one.path.name}", str(one))
        return
    copies: dict[tuple[str, str, str, bool], list[Process]] = {}
    at_path: list[Process] = []
    for process in _of_its_jobs(processes, path):
        copy = _copy(process[1], path)
        if copy is not None:
            key = (copy.path, *_roots(path, copy.path, process[1].cwd), copy.same)
            copies.setdefault(key, []).append(process)
        elif any(place.path == path for place in process[1].files.get(path, ())):
            at_path.append(process)
    for (copy_path, local, remote, same), having in copies.items():
        yield _mapping(one, having, copy_path, local, remote, same)
    yield from _differing(one, at_path)
    having = [*at_path, *(process for group in copies.values() for process in group)]
    if not having:
        who = f"None of {counted(len(processes), 'process')}"
        what = f"{who} has {one.path.name} at {path}, nor in a folder from which it imports."
        why = "Its code is elsewhere, under another name, or part of a package. Compare with the path in a traceback."
        command = json.dumps({"pathMappings": [{"localRoot": str(one.path.parent), "remoteRoot": "/PATH/OF/THE/JOB"}]})
        yield warning(what, why, command[1:-1], str(one))
        return
    yield from _reached(one, having, bool(copies))


def _of_its_jobs(processes: list[Process], path: str) -> list[Process]:
    """Return the processes of the jobs that have the file, or all processes if no job is known to have it.

    A job has the file if its driver's program is in the file's folder or above it, or if a process has a copy. It is
    not enough that the path exists, because it exists for all other processes of the machine, too.
    """
    jobs = set()
    for one, report in processes:
        folder = str(PurePosixPath(report.script).parent)
        beside = report.script != "" and path.startswith(folder.rstrip("/") + "/")
        if beside or _copy(report, path) is not None:
            jobs.add(one.facts.job)
    return [process for process in processes if process[0].facts.job in jobs] or processes


def _copy(report: ProcessReport, path: str) -> FoundFile | None:
    """Return the copy that the process imports in place of the user's file, None if there is none.

    It is the copy in the process's working_dir, or else an installed one. A copy at another path counts only if the
    user's own path does not exist there.
    """
    places = report.files.get(path, ())
    others = [place for place in places if place.path != path]
    packed = [place for place in others if paths.package(place.path) is not None]
    installed = [place for place in others if _is_library(place.path)]
    instead = others if not any(place.path == path for place in places) else []
    return next(iter([*packed, *installed, *instead]), None)


def _roots(local: str, remote: str, cwd: str) -> tuple[str, str]:
    """Return the two folders for a path mapping: both paths without their common end."""
    ours, theirs = Path(local).parts, Path(remote).parts
    common = 0
    while common < min(len(ours), len(theirs)) - 1 and ours[-common - 1] == theirs[-common - 1]:
        common += 1
    # The caller passes two paths that end with the same file name.
    local_root, remote_root = (str(Path(*parts[: len(parts) - common])) for parts in (ours, theirs))
    # Ray puts each upload into another folder. "." is the worker's own folder.
    return local_root, "." if remote_root == cwd and paths.package(cwd) is not None else remote_root


def _mapping(one: SourceBreakpoint, having: list[Process], copy: str, local: str, remote: str, same: bool) -> Finding:
    what = f"{names(worker for worker, _ in having)} {'runs' if len(having) == 1 else 'run'} a copy, {copy}."
    changed = "" if same else " The copy differs from your file, so line numbers may not match; start the job again."
    if paths.package(copy) is not None:
        why = "Ray copies a job's working_dir. To set breakpoints in the copy, raydap must know your folder."
        return warning(what, why + changed, f'"workspaceFolder": "{local}"', str(one))
    entry = json.dumps({"pathMappings": [{"localRoot": local, "remoteRoot": remote}]})[1:-1]
    why = "A breakpoint in your file stops no worker there without this path mapping."
    if _is_library(copy):
        entry += ', "justMyCode": false'
        why += ' Breakpoints in installed code need "justMyCode": false.'
    return warning(what, why + changed, entry, str(one))


def _differing(one: SourceBreakpoint, at_path: list[Process]) -> Iterator[Finding]:
    differing = [
        worker
        for worker, report in at_path
        if any(place.path == str(one.path) and not place.same for place in report.files.get(str(one.path), ()))
    ]
    if differing:
        what = f"On the nodes of {names(differing)}, {one.path} differs from the file on this machine."
        yield warning(what, "Line numbers may not match. Copy the same version there.", subject=str(one))


def _reached(one: SourceBreakpoint, having: Iterable[Process], mapped: bool) -> Iterator[Finding]:
    """Check whether an agent or a debugger makes the workers that have the file stop."""
    having = list(having)
    without = [worker for worker, report in having if not (report.agent or worker.paused or _is_attached(report))]
    reached = [worker for worker, _ in having if worker not in without]
    if without:
        obstacle = next((report.gdb_obstacle for worker, report in having if worker in without), "")
        have = "it has" if len(without) == 1 else "they have"
        what = f"{one} does not stop {names(without)}: {have} neither a debugger nor an agent."
        why = 'Start the program with raydap, or attach with "reach": "any". '
        why += f"That does not reach busy workers: {obstacle}." if obstacle else "That works here, if need be with gdb."
        yield warning(what, why, _prepared(having, one.path.name), str(one))
    if reached:
        then = "With that setting, " if mapped else ""
        yield ok(
            f"{then}{one} stops {names(reached)} at the line, if raydap is attached. Whether a worker has imported the "
            "file cannot be seen from outside."
        )


def _is_attached(report: ProcessReport) -> bool:
    """Return whether a debugger is connected.

    A worker with a debug port but without a connected debugger keeps running until its next breakpoint().
    """
    return report.port is not None and report.port.peers != ()


def _prepared(having: list[Process], name: str) -> str:
    """Return the command that starts the program of these workers so that breakpoints reach it."""
    driver = next((one for one in having if one[1].script), None)
    if driver is None:
        return f"raydap run {name}"
    run = f"raydap run {PurePosixPath(driver[1].script).name}"
    return f"ray job submit --working-dir . -- python -m {run}" if driver[0].facts.submission else run


def _is_library(path: str) -> bool:
    return any(folder in path for folder in _LIBRARIES)
