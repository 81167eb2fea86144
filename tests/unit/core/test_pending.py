import pytest

from raydap.core.model.pending import Asked, Pending, WorkerRefusedError
from raydap.errors import Code, Problem, ProblemError
from raydap.protocol.types import Seq, WorkerKey
from raydap.wire import envelope

W1, W2 = WorkerKey("w1"), WorkerKey("w2")


def test_an_answer_is_taken_once_and_only_by_its_worker() -> None:
    pending = Pending()
    threads = Asked("threads", 10.0)
    pending.add(W1, Seq(1), threads)
    assert pending.take(W2, Seq(1)) is None
    assert pending.take(W1, Seq(2)) is None
    assert pending.take(W1, Seq(1)) is threads
    assert pending.take(W1, Seq(1)) is None
    assert len(pending) == 0


def test_a_worker_that_goes_gives_back_all_that_wait_for_it_oldest_first() -> None:
    pending = Pending()
    for seq, worker in enumerate((W1, W2, W1)):
        pending.add(worker, Seq(seq), Asked(f"{worker}-{seq}", 10.0))
    assert [each.command for each in pending.take_worker(W1)] == ["w1-0", "w1-2"]
    assert pending.take_worker(W1) == []
    assert len(pending) == 1


def test_what_is_overdue_is_taken_with_its_worker() -> None:
    pending = Pending()
    pending.add(W1, Seq(1), Asked("early", 5.0))
    pending.add(W2, Seq(1), Asked("late", 5.1))
    assert pending.take_overdue(4.9) == []
    ((worker, early),) = pending.take_overdue(5.0)
    assert (worker, early.command) == (W1, "early")
    assert pending.take_overdue(5.0) == []
    assert [worker for worker, _ in pending.take_overdue(6.0)] == [W2]


def test_a_failed_response_is_an_exception_with_the_workers_own_words() -> None:
    asked = Asked("evaluate", 10.0)
    asked.answer(envelope.read(envelope.failure(1, 2, "evaluate", "NameError: x")))
    with pytest.raises(WorkerRefusedError, match="NameError: x") as raised:
        asked.result()
    assert raised.value.reply.message == "NameError: x"


def test_the_first_answer_stays() -> None:
    asked = Asked("evaluate", 10.0)
    asked.set_exception(ProblemError(Problem(Code.WORKER_SILENT, "It is silent.")))
    asked.answer(envelope.read(envelope.response(1, 2, "evaluate")))
    with pytest.raises(ProblemError, match="It is silent"):
        asked.result()
