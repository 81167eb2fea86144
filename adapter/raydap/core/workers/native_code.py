"""Workers in native code that blocks all Python code of the process, so that neither debugger nor agent answers.

Their stacks are read from outside, where that is possible (cluster/survey/py_spy.py).
"""

from raydap.analysis.thread_stacks import Stacks, decode
from raydap.core.effects import SampleStack
from raydap.core.events import StackSampled
from raydap.core.flows import Flow, Future
from raydap.core.model.state import State
from raydap.core.model.worker import Worker
from raydap.core.process_info import ProcessInfo
from raydap.core.translate import snapshots
from raydap.errors import Code, Problem, sentence


def sample(state: State, row: ProcessInfo) -> Flow[Stacks]:
    """Return the stacks of a worker, read from outside its process.

    Raises ValueError if they cannot be read; its text is the reason for users.
    """
    samples = state.run.stack_samples
    if row.key not in samples:
        samples[row.key] = Future()
        state.emit(SampleStack(row))
    event = yield from samples[row.key]
    if event.problem:
        raise ValueError(event.problem)
    return decode(event.text)


def sampled(state: State, event: StackSampled) -> None:
    """Pass the stacks that py-spy has read to the flows that wait for them."""
    waiting = state.run.stack_samples.pop(event.worker, None)
    if waiting is not None:
        waiting.set_result(event)


def report_unresponsive(state: State, worker: Worker) -> Flow[None]:
    """Report that a worker does not pause, and where it is."""
    try:
        stacks = yield from sample(state, worker.row)
    except ValueError as error:
        state.report(silent(worker, str(error)))
        return
    threads = [each for each in snapshots.mapped(stacks, worker.settings) if each.is_users] or stacks.threads
    if not threads:
        state.report(silent(worker, "no thread of it runs Python code"))
        return
    text = (
        f"{worker} does not answer: it is {threads[0].place}, which blocks all its Python code. "
        "It pauses when that call returns. Show Stack (raydap/stack) shows its whole stack."
    )
    state.report(Problem(Code.WORKER_SILENT, sentence(text)))


def silent(worker: Worker, reason: str = "") -> Problem:
    """Return the problem of a worker that does not answer and whose stack cannot be read.

    `reason` is why the stack cannot be read, "" if that is not known.
    """
    pid = worker.row.pid or "PID"
    text = (
        f"{worker} does not answer: its native code blocks all its Python code. "
        f"It pauses when that call returns. `py-spy dump --pid {pid}` on its node shows where it is."
    )
    return Problem(Code.WORKER_SILENT, sentence(text), reason)
