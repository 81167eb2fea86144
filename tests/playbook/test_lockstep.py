"""raydap/step with `until`: workers step together until they are at different lines."""

from raydap.core.effects import StopDiscovery
from raydap.errors import Code
from support.fake_client import FakeClient
from support.fake_worker import FakeWorker
from support.playbook import Play
from support.stopped_workers import running, stopped


def together(play: Play, client: FakeClient, count: int = 3) -> tuple[list[FakeWorker], list[int], int]:
    """Stop workers at one line, and request steps until they part; return after the start of the first step.

    Returned are the workers, their threads, and the seq of the request.
    """
    workers, threads = stopped(play, client, *[f"w{number}" for number in range(count)])
    request = client.send("raydap/step", threadId=threads[0], command="next", timeout=60, until="parted")
    assert running(client) == set(threads)
    return workers, threads, request


def test_workers_step_together_unseen_until_they_part(play: Play) -> None:
    client = play.session()
    client.request("raydap/workers")
    workers, threads = stopped_and_listed(play, client)
    request = client.send("raydap/step", threadId=threads[0], command="next", timeout=60, until="parted")
    client.inbox.clear()
    for _ in range(3):
        for worker in workers:
            worker.stop(reason="step")
        client.nothing()
    workers[2].path = "/app/other.py"
    for worker in workers:
        worker.stop(reason="step")
    answer = client.answer(request)
    stops = [each["body"]["threadId"] for each in client.inbox if each["event"] == "stopped"]
    client.inbox.clear()
    assert (answer["threads"], answer["running"], answer["steps"]) == (threads, [], 4)
    assert [group["members"] for group in answer["groups"]] == [threads[2:], threads[:2]]
    assert stops == threads
    assert [worker.commands().count("next") for worker in workers] == [4, 4, 4]


def stopped_and_listed(play: Play, client: FakeClient) -> tuple[list[FakeWorker], list[int]]:
    workers = play.attached("w1", "w2", "w3")
    for worker in workers:
        worker.stop()
    threads = [each["id"] for each in client.request("threads")["threads"]]
    client.inbox.clear()
    for worker in workers:
        worker.commands()
    return workers, threads


def test_a_breakpoint_ends_their_steps(play: Play) -> None:
    client = play.session()
    workers, threads, request = together(play, client)
    for worker in workers[1:]:
        worker.stop(reason="step")
    client.nothing()
    workers[0].stop(reason="breakpoint")
    assert sorted([client.stop()["threadId"] for _ in workers]) == sorted(threads)
    assert client.answer(request)["steps"] == 1


def test_a_thread_that_does_not_arrive_in_time_keeps_running_and_is_shown_later(play: Play) -> None:
    client = play.session()
    workers, threads, request = together(play, client)
    for worker in workers[:2]:
        worker.stop(reason="step")
    client.nothing()
    play.tick(61.0)
    assert [client.stop()["threadId"] for _ in workers[:2]] == threads[:2]
    assert client.answer(request)["running"] == threads[2:]
    workers[2].stop(reason="step")
    assert client.stop()["threadId"] == threads[2]


def test_a_worker_that_ends_ends_the_steps_of_all(play: Play) -> None:
    client = play.session()
    workers, threads, request = together(play, client)
    for worker in workers[:2]:
        worker.stop(reason="step")
    workers[2].die()
    client.event("thread")
    assert [client.stop()["threadId"] for _ in workers[:2]] == threads[:2]
    assert client.answer(request)["groups"][0]["members"] == threads[:2]


def test_a_worker_that_refuses_ends_the_steps_of_all_where_it_was(play: Play) -> None:
    client = play.session()
    workers, threads, request = together(play, client)
    workers[1].hold = {"next"}
    for worker in workers:
        worker.stop(reason="step")
    workers[1].refuse(workers[1].heard[-1], "no stepping today")
    play.warned("the step of")
    client.nothing()
    for worker in (workers[0], workers[2]):
        worker.stop(reason="step")
    assert sorted([client.stop()["threadId"] for _ in workers]) == sorted(threads)
    assert client.answer(request)["steps"] == 2


def test_a_client_that_leaves_during_the_steps_loses_no_worker(play: Play) -> None:
    client = play.session()
    workers, _, _ = together(play, client)
    workers[0].stop(reason="step")
    client.hang_up()
    play.take(StopDiscovery)
    play.tick(61.0)


def test_until_needs_a_timeout(play: Play) -> None:
    client = play.session()
    _, threads = stopped(play, client, "w1")
    arguments = {"threadId": threads[0], "command": "next", "until": "parted"}
    assert "timeout" in client.refused(Code.BAD_ARGUMENT, "raydap/step", **arguments)


def test_a_step_that_is_cancelled_is_their_last_one(play: Play) -> None:
    client = play.session()
    workers, threads, request = together(play, client)
    for worker in workers:
        worker.stop(reason="step")
    workers[0].stop(reason="step")
    client.request("cancel", requestId=request)
    assert client.refusal(None, request) == "cancelled"
    play.tick(0.1)
    assert client.stop()["threadId"] == threads[0]
    for worker, thread in zip(workers[1:], threads[1:], strict=True):
        worker.stop(reason="step")
        assert client.stop()["threadId"] == thread
    assert [worker.commands().count("next") for worker in workers] == [2, 2, 2]


def test_a_client_that_is_gone_steps_no_worker_further(play: Play) -> None:
    client = play.session()
    other = play.joined()
    workers, threads, _ = together(play, client)
    other.inbox.clear()
    client.hang_up()
    for worker in workers:
        worker.stop(reason="step")
    assert sorted(other.stop()["threadId"] for _ in workers) == sorted(threads)
    assert [worker.commands().count("next") for worker in workers] == [1, 1, 1]
