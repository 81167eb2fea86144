from raydap.core.pending import Pending, Reply, Waiting
from raydap.protocol.types import Seq, WorkerKey

W1, W2 = WorkerKey("w1"), WorkerKey("w2")


def waiting(command: str, deadline: float = 10.0) -> Waiting:
    def then(_: Reply) -> None: ...

    return Waiting(command, then, deadline)


def test_an_answer_is_taken_once_and_only_by_its_worker() -> None:
    pending = Pending()
    threads = waiting("threads")
    pending.add(W1, Seq(1), threads)
    assert pending.take(W2, Seq(1)) is None
    assert pending.take(W1, Seq(2)) is None
    assert pending.take(W1, Seq(1)) is threads
    assert pending.take(W1, Seq(1)) is None
    assert len(pending) == 0


def test_a_worker_that_goes_gives_back_all_that_wait_for_it_oldest_first() -> None:
    pending = Pending()
    for seq, worker in enumerate((W1, W2, W1)):
        pending.add(worker, Seq(seq), waiting(f"{worker}-{seq}"))
    assert [each.command for each in pending.take_worker(W1)] == ["w1-0", "w1-2"]
    assert pending.take_worker(W1) == []
    assert len(pending) == 1


def test_what_is_overdue_is_taken_with_its_worker() -> None:
    pending = Pending()
    pending.add(W1, Seq(1), waiting("early", 5.0))
    pending.add(W2, Seq(1), waiting("late", 5.1))
    assert pending.take_overdue(4.9) == []
    ((worker, early),) = pending.take_overdue(5.0)
    assert (worker, early.command) == (W1, "early")
    assert pending.take_overdue(5.0) == []
    assert [worker for worker, _ in pending.take_overdue(6.0)] == [W2]
