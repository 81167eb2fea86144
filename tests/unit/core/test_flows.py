"""The runner of conversations: results, exceptions, and what waits for what."""

from collections.abc import Callable

import pytest

from raydap.core.flows import Flow, Future, gather, start
from raydap.errors import Code, Problem, ProblemError


def problem(text: str) -> ProblemError:
    return ProblemError(Problem(Code.WORKER_GONE, text))


def add(first: Future[int], second: Future[int]) -> Flow[int]:
    one = yield from first
    two = yield from second
    return one + two


def test_a_flow_waits_for_each_future_in_its_order() -> None:
    one: Future[int] = Future()
    two: Future[int] = Future()
    total = start(add(one, two))
    two.set_result(2)
    assert not total.done
    one.set_result(1)
    assert total.result() == 3


def test_a_flow_that_needs_not_wait_is_done_at_once() -> None:
    one: Future[int] = Future()
    one.set_result(20)
    assert start(add(one, one)).result() == 40


def test_flows_are_made_of_flows() -> None:
    def twice(future: Future[int]) -> Flow[int]:
        return (yield from add(future, future))

    one: Future[int] = Future()
    total = start(twice(one))
    one.set_result(4)
    assert total.result() == 8


def test_an_exception_is_raised_where_it_is_waited_for() -> None:
    def careful(future: Future[int]) -> Flow[int]:
        try:
            return (yield from future)
        except ProblemError:
            return -1

    one: Future[int] = Future()
    total = start(careful(one))
    one.set_exception(problem("gone"))
    assert total.result() == -1


@pytest.mark.parametrize("error", [problem("gone"), MemoryError(), RecursionError(), KeyError("x")])
def test_an_exception_of_a_flow_ends_that_flow_only(error: Exception) -> None:
    def fail(future: Future[int]) -> Flow[int]:
        yield from future
        raise error

    one: Future[int] = Future()
    failed = start(fail(one))
    other = start(add(one, one))
    one.set_result(1)
    assert other.result() == 2
    with pytest.raises(type(error)):
        failed.result()


def test_the_first_result_or_exception_stays() -> None:
    one: Future[int] = Future()
    one.set_result(1)
    one.set_result(2)
    one.set_exception(problem("late"))
    assert one.result() == 1


def test_a_failure_is_forwarded_and_a_success_is_not() -> None:
    settle: list[Callable[[Future[int]], None]] = [lambda f: f.set_result(1), lambda f: f.set_exception(problem("no"))]
    for act, failed in zip(settle, (False, True), strict=True):
        source: Future[int] = Future()
        target: Future[None] = Future()
        source.forward_exception(target)
        act(source)
        assert target.done is failed


def test_gather_has_each_result_or_error_in_the_order_of_asking() -> None:
    futures: dict[str, Future[int]] = {name: Future() for name in "abc"}
    flows = {name: add(future, future) for name, future in futures.items()}
    gathered = gather(flows)
    futures["c"].set_result(3)
    futures["b"].set_exception(problem("gone"))
    assert not gathered.done
    futures["a"].set_result(1)
    results = gathered.result()
    assert list(results) == ["a", "b", "c"]
    assert (results["a"], results["c"]) == (2, 6)
    assert isinstance(results["b"], ProblemError)


def test_gather_of_nothing_is_done() -> None:
    nothing: dict[str, Flow[int]] = {}
    assert gather(nothing).result() == {}


def test_a_mistake_in_one_of_many_is_raised() -> None:
    def mistake() -> Flow[int]:
        yield from ()
        raise ValueError("ours")

    with pytest.raises(ValueError, match="ours"):
        gather({"a": mistake()}).result()


def test_a_thousand_flows_in_a_row_need_no_deep_stack() -> None:
    def count(to: int) -> Flow[int]:
        total = 0
        for _ in range(to):
            done: Future[int] = Future()
            done.set_result(1)
            total += yield from done
        return total

    assert start(count(100_000)).result() == 100_000
