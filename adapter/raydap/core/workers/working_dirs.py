"""Jobs with a `working_dir` or `py_modules`: their workers run copies of the client's folders (translate/paths.py).

If the client names its folder (`workspaceFolder`, `pathMappings`), breakpoints and stacks are translated. Otherwise a
breakpoint in a file of the folder cannot hit in the copy. raydap then shows the breakpoint as not verified, and
notifies the user once which argument is missing.

No argument names the client's folders of `py_modules`. A worker finds its copy of a file by the end of the path, and
gets the breakpoint in the copy, too.
"""

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from raydap.core.flows import Flow, start
from raydap.core.model.state import State
from raydap.core.model.worker import ANSWER_TIMEOUT_S, Worker
from raydap.core.translate import paths
from raydap.core.workers.replies import query
from raydap.errors import Code, Problem, ProblemError
from raydap.inworker import calls

MAX_COPIES = 16
"""The number of copies of one file that may get its breakpoints. A job has one copy at most, but the answer of a worker
is not trusted."""


def find_package(worker: Worker, timeout_s: float = ANSWER_TIMEOUT_S) -> Flow[None]:
    """Query the worker for its `package`, once.

    Raises ProblemError if the worker does not answer.
    """
    if worker.package_asked is None:
        worker.package_asked = start(_ask_package(worker, timeout_s))
    yield from worker.package_asked


def _ask_package(worker: Worker, timeout_s: float) -> Flow[None]:
    if not worker.settings.path_mappings:
        with suppress(calls.ResultError):
            cwd, *modules = yield from _paths(worker, calls.job_folders(), timeout_s)
            worker.package, worker.has_modules = paths.package(cwd), bool(modules)


def _paths(worker: Worker, expression: str, timeout_s: float = ANSWER_TIMEOUT_S) -> Flow[list[str]]:
    """Return the paths that an expression results in, at least one.

    Raises ResultError if there is none, and ProblemError if the worker does not answer.
    """
    result = yield from query(worker, expression, timeout_s)
    if not isinstance(result, list) or not result or not isinstance(result[0], str):
        raise calls.ResultError("no paths")
    return result


def find_module_copies(worker: Worker, path: str, timeout_s: float = ANSWER_TIMEOUT_S) -> Flow[list[str]]:
    """Query the worker, once, for its copies of a client's file in `py_modules`; return the new ones.

    A copy gets the breakpoints of one file only. If the paths of two files have the same end, it gets those of the file
    that was requested first. Raises ProblemError if the worker does not answer.
    """
    yield from find_package(worker)
    if not path or not worker.has_modules or path in worker.module_copies:
        return []
    try:
        _, *copies = yield from _paths(worker, calls.copies_of(path), timeout_s)
    except calls.ResultError:
        return []
    if path in worker.module_copies:
        # Two flows have queried for the same file at the same time.
        return []
    taken = {"", path, *(copy for found in worker.module_copies.values() for copy in found)}
    worker.module_copies[path] = [copy for copy in copies if copy not in taken][:MAX_COPIES]
    return worker.module_copies[path]


def without_copies(state: State, worker: Worker, path: str, answers: object) -> Flow[object]:
    """Return a worker's answers to setBreakpoints, marked as not verified if the breakpoints cannot hit.

    They cannot hit if the worker runs a copy of this file and the client's folder is unknown.
    """
    if paths.workspace(worker.settings) is not None:
        return answers
    with suppress(ProblemError):
        yield from find_package(worker)
    package = worker.package
    if package is None or path.startswith(package):
        return answers
    try:
        copy = (yield from _paths(worker, calls.copies_of(path)))[0]
    except (ProblemError, calls.ResultError):
        copy = ""
    if not copy.startswith(package) or not isinstance(answers, list):
        return answers
    folder = path[: len(path) - len(copy) + len(package)]
    _warn(state, f'"{folder}"')
    text = f'The job runs a copy of this file; attach with "workspaceFolder": "{folder}".'
    return [_unverified(answer, text) for answer in answers]


def look_for_copies(state: State, worker: Worker, shown: Iterable[str]) -> None:
    """Warn the user if paths of a stack show that the job runs a copy of a folder.

    `shown` are the paths that no earlier stack contained.
    """
    if not worker.settings.path_mappings and any(paths.is_in_working_dir(path) for path in shown):
        _warn(state, "the folder from which the job was submitted")


def _unverified(answer: Any, text: str) -> Any:
    return {**answer, "verified": False, "message": text} if isinstance(answer, dict) else answer


def _warn(state: State, folder: str) -> None:
    text = (
        f'The job runs a copy of your folder, so breakpoints in yours may not hit; set "workspaceFolder" to {folder}.'
    )
    state.report_once(Problem(Code.FILE_COPIED, text))
