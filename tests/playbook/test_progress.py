"""Progress reports while many workers are attached, for clients that can show them."""

from raydap.core.effects import StopDiscovery
from raydap.core.model.attaching import AT_ONCE
from raydap.core.workers.attach_progress import MANY
from support.fake_worker import FakeWorker
from support.playbook import Play


def held(play: Play, count: int, task: str = "task") -> list[FakeWorker]:
    workers = [play.worker(f"{task}{number}") for number in range(count)]
    for worker in workers:
        worker.hold.add("attach")
    return workers


def test_the_attach_to_many_workers_is_shown_from_start_to_end(play: Play) -> None:
    client = play.session(supportsProgressReporting=True)
    count = AT_ONCE + 4
    workers = held(play, count)
    play.paused(*workers)
    start = client.event("progressStart")
    assert start["title"] == "Attaching to Ray workers"
    assert start["message"] == f"{count} workers"
    for worker in workers[:-1]:
        worker.release()
    updates = [client.event("progressUpdate") for _ in range(99)]
    assert {update["progressId"] for update in updates} == {start["progressId"]}
    assert [update["percentage"] for update in updates] == list(range(1, 100))
    workers[-1].release()
    assert client.event("progressEnd") == {"progressId": start["progressId"]}


def test_few_workers_are_not_worth_it(play: Play) -> None:
    play.session(supportsProgressReporting=True)
    workers = held(play, MANY - 1)
    play.paused(*workers)
    for worker in workers:
        worker.release()


def test_a_client_that_cannot_show_it_gets_none(play: Play) -> None:
    play.session()
    workers = held(play, MANY)
    play.paused(*workers)
    for worker in workers:
        worker.release()


def test_workers_that_come_later_count_too_and_the_next_time_is_a_new_progress(play: Play) -> None:
    client = play.session(supportsProgressReporting=True)
    first, more = held(play, MANY), held(play, MANY, "more")
    play.paused(*first)
    one = client.event("progressStart")["progressId"]
    play.paused(*first, *more)
    first[0].release()
    assert client.event("progressUpdate")["message"] == f"1 of {2 * MANY} workers"
    for worker in first[1:] + more:
        worker.release()
    while client.inbox and client.inbox[0]["event"] == "progressUpdate":
        client.event("progressUpdate")
    client.event("progressEnd")
    last = held(play, MANY, "last")
    play.paused(*last)
    assert client.event("progressStart")["progressId"] != one
    for worker in last:
        worker.release()
    while client.inbox[0]["event"] == "progressUpdate":
        client.event("progressUpdate")
    client.event("progressEnd")


def test_a_session_that_ends_during_an_attach_leaves_no_progress_behind(play: Play) -> None:
    client = play.session(supportsProgressReporting=True)
    workers = held(play, MANY)
    play.paused(*workers)
    client.event("progressStart")
    client.hang_up()
    play.take(StopDiscovery)
    for worker in workers:
        worker.release()
    play.session(supportsProgressReporting=True)
