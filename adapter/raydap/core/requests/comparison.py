"""The request `raydap/compare`: compare the values of an expression in many threads (docs/requests.md)."""

from collections.abc import Mapping

import msgspec
from msgspec import UNSET

from raydap.analysis.sets import comparing
from raydap.analysis.sets.compared_value import Summary
from raydap.analysis.sets.comparing import Compared
from raydap.analysis.sets.folding import Holder, statistics_of
from raydap.core.flows import Flow
from raydap.core.model.client import Request
from raydap.core.model.state import State
from raydap.core.requests import evaluation, selecting
from raydap.core.requests.evaluation import Reply
from raydap.errors import Code, Problem, ProblemError
from raydap.inworker import calls
from raydap.protocol.types import Handle
from raydap.protocol.value_messages import CompareArguments, Comparison

MAX_KEPT = 20
"""The maximum number of names under which a session keeps values."""

ARRAYS_S = 1.0
"""Seconds in which a worker computes the numbers of arrays, or half of the request's timeout if that is less."""

_READER = msgspec.json.Decoder(Summary)


def compare(state: State, request: Request, arguments: CompareArguments) -> Flow[Comparison]:
    """Evaluate an expression in many threads, and group the threads by equal values.

    Unlike for `raydap/evaluate`, a worker sends a short summary of each value, with a hash that is equal for equal
    values.
    """
    evaluation.check(arguments.expression, arguments.timeout)
    # Use the baselines of this run to the end, even if the run ends while the workers answer.
    kept = state.run.baselines
    _check_names(kept, arguments)
    before = None if arguments.baseline is None else kept[arguments.baseline]
    expression = calls.summary(arguments.expression, min(ARRAYS_S, arguments.timeout / 2))
    replies = yield from evaluation.everywhere(state, request, arguments, expression)
    compared = [
        Compared(holder, _summary(state, holder, reply))
        for _, holder, reply in replies
        if not evaluation.is_silent(reply)
    ]
    change = None if before is None else comparing.change(compared, before)
    if arguments.keep is not None:
        kept[arguments.keep] = {
            Handle(each.holder.thread): each.summary for each in compared if each.holder.thread is not None
        }
    numbers = [each.number for each in compared if not each.summary.error]
    known = [each for each in numbers if each is not None]
    are_numbers = bool(known) and len(known) == len(numbers)
    return Comparison(
        groups=comparing.groups(compared),
        silent=evaluation.silent_threads(replies),
        unread=evaluation.unread_workers(replies),
        statistics=statistics_of(known) if are_numbers else UNSET,
        histogram=(comparing.histogram(compared) if are_numbers else None) or UNSET,
        change=change or UNSET,
    )


def _check_names(kept: Mapping[str, object], arguments: CompareArguments) -> None:
    if arguments.baseline is not None and arguments.baseline not in kept:
        known = f"there are {', '.join(kept)}" if kept else "none is kept"
        text = f'No values are kept as "{arguments.baseline}" ({known}); keep some with the argument "keep".'
        raise ProblemError(Problem(Code.BAD_ARGUMENT, text))
    if arguments.keep is None:
        return
    selecting.check_name(arguments.keep, "a baseline")
    if arguments.keep not in kept and len(kept) >= MAX_KEPT:
        text = f"raydap keeps values under at most {MAX_KEPT} names; reuse one of them."
        raise ProblemError(Problem(Code.BAD_ARGUMENT, text))


def _summary(state: State, holder: Holder, reply: Reply) -> Summary:
    """Return a worker's summary of a value. An answer that cannot be read becomes an error: workers are untrusted."""
    if isinstance(reply, ProblemError):
        return Summary(error=evaluation.reason(reply))
    try:
        return _READER.decode(calls.read_summary(reply.get("result")))
    except (calls.ResultError, msgspec.DecodeError) as error:
        state.log("warning", f"cannot decode the value that {holder.member.name} has sent: {error}")
        return Summary(error="The worker's answer cannot be decoded; see the log.")
