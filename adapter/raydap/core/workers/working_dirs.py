"""Jobs with a `working_dir`: their workers run a copy of the client's folder (translate/paths.py).

If the client says which folder that is (`workspaceFolder`, `pathMappings`), breakpoints and stacks are translated. If
it does not, a breakpoint in one of its files cannot hit in the copy: then it is not verified, and the user is told once
which argument is missing.
"""

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from raydap.core.errors import Code, Problem, ProblemError
from raydap.core.flows import Flow, start
from raydap.core.model.state import State
from raydap.core.model.worker import ANSWER_TIMEOUT_S, Worker
from raydap.core.translate import paths
from raydap.core.workers.replies import query
from raydap.inworker import calls


def find_package(worker: Worker, timeout_s: float = ANSWER_TIMEOUT_S) -> Flow[None]:
    """Asks the worker for its `package`, once. Raises ProblemError if it does not answer."""
    if worker.package_asked is None:
        worker.package_asked = start(_ask_package(worker, timeout_s))
    yield from worker.package_asked


def _ask_package(worker: Worker, timeout_s: float) -> Flow[None]:
    if not worker.settings.path_mappings:
        with suppress(calls.ResultError):
            worker.package = paths.package((yield from query(worker, calls.working_dir(), timeout_s)))


def without_copies(state: State, worker: Worker, path: str, answers: object) -> Flow[object]:
    """A worker's answers to setBreakpoints, not verified if it runs a copy of this file and the client's folder is
    unknown."""
    if paths.workspace(worker.settings) is not None:
        return answers
    with suppress(ProblemError):
        yield from find_package(worker)
    package = worker.package
    if package is None or path.startswith(package):
        return answers
    try:
        copy = yield from query(worker, calls.copy_of(path), ANSWER_TIMEOUT_S)
    except (ProblemError, calls.ResultError):
        copy = ""
    if not isinstance(copy, str) or not copy.startswith(package) or not isinstance(answers, list):
        return answers
    folder = path[: len(path) - len(copy) + len(package)]
    _tell(state, f'"{folder}"')
    text = f'The job runs a copy of this file; attach with "workspaceFolder": "{folder}".'
    return [_unverified(answer, text) for answer in answers]


def look_for_copies(state: State, worker: Worker, shown: Iterable[str]) -> None:
    """Takes the paths of a stack that were not shown before."""
    if not worker.settings.path_mappings and any(paths.package(path) is not None for path in shown):
        _tell(state, "the folder that the job was submitted from")


def _unverified(answer: Any, text: str) -> Any:
    return {**answer, "verified": False, "message": text} if isinstance(answer, dict) else answer


def _tell(state: State, folder: str) -> None:
    text = f'The job runs a copy of its folder, so breakpoints in yours may not hit; set "workspaceFolder" to {folder}.'
    state.report_once(Problem(Code.FILE_COPIED, text))
