"""Lets a worker show large arrays by numbers such as their minimum and mean (inworker/array_values.py)."""

from raydap.core.flows import Flow, start
from raydap.core.model.worker import Worker
from raydap.errors import ProblemError
from raydap.inworker import calls

TIMEOUT_S = 5.0
"""Seconds for the worker to make this change, which takes 5 ms. After that its variables are listed without it."""


def prepare(worker: Worker) -> Flow[None]:
    """Make a worker show large arrays by their numbers.

    Called before each list of variables. The first call queries the worker, and all lists wait for its answer.
    """
    if worker.settings.tune_workers:
        if worker.arrays is None:
            worker.arrays = start(_ask(worker))
        yield from worker.arrays


def _ask(worker: Worker) -> Flow[None]:
    try:
        yield from worker.ask("evaluate", {"expression": calls.show_arrays(), "context": "clipboard"}, TIMEOUT_S)
    except ProblemError as error:
        worker.context.log("warning", f"{worker} shows large arrays without statistics: {error}")
