"""The new texts of reloaded files (raydap/reload), for workers that are attached and for those that come later."""

import base64
import zlib

from raydap.core.flows import Flow
from raydap.core.model.state import State
from raydap.core.model.worker import Worker
from raydap.core.settings import AttachSettings
from raydap.core.translate import paths
from raydap.core.workers.replies import query
from raydap.errors import Code, Problem, ProblemError
from raydap.inworker import calls

MAX_PACKED = 150_000
"""The longest packed text. An agent reads a line of 256 KB (inworker/agent_lines.py), which contains more than the
text. A megabyte of Python takes about this much."""


def pack(text: str) -> str:
    """Return the text as inworker/code_reload.py takes it. Raises ProblemError if it is too long."""
    packed = base64.b64encode(zlib.compress(text.encode("utf-8", "surrogatepass"), 9)).decode()
    if len(packed) > MAX_PACKED:
        raise ProblemError(Problem(Code.BAD_ARGUMENT, "The file is too long to be reloaded; restart the program."))
    return packed


def arguments(settings: AttachSettings, path: str, packed: str) -> tuple[list[str], str, str]:
    """Return the arguments of calls.reload_code and calls.reload_in_agent for a file of the client."""
    return paths.unmapped(path, settings), paths.in_workspace(path, settings), packed


def send_to_new(state: State, worker: Worker, timeout_s: float) -> Flow[None]:
    """Send all new texts to a worker that is being attached. Raises ProblemError if it does not answer.

    If it imports a file later from an older copy, it gets the new text.
    """
    for path, packed in list(worker.run.new_texts.items()):
        try:
            yield from query(worker, calls.reload_code(*arguments(worker.settings, path, packed)), timeout_s)
            worker.run.reloaded.add(worker.key)
        except calls.ResultError as error:
            state.log("warning", f"{worker} has the old code of {path}: {error}")
