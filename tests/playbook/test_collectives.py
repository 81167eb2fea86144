"""The warning before some but not all members of a collective operation resume (docs/usage/barriers.md)."""

from raydap.core.process_info import RayFacts
from raydap.errors import Code
from support.fake_client import FakeClient
from support.fake_worker import FakeWorker
from support.playbook import Play
from support.stopped_workers import running

TRAINER = RayFacts(task="Trainer.train", actor="Trainer", job="01")


def trainers(play: Play, client: FakeClient, library: str, count: int = 3) -> tuple[list[FakeWorker], list[int]]:
    """Stop some actors of one class, which report that they use this library for collectives."""
    workers = [play.worker(f"w{number}", TRAINER) for number in range(count)]
    play.paused(*workers)
    for worker in workers:
        worker.collectives = library
        worker.stop()
    return workers, [client.stop()["threadId"] for _ in workers]


def test_a_client_that_parts_workers_with_collectives_is_warned_once(play: Play) -> None:
    client = play.session()
    _, threads = trainers(play, client, "torch.distributed")
    request = client.send("continue", threadId=threads[1])
    text = client.told(Code.COLLECTIVE)
    assert text.startswith(
        "You are resuming only Trainer 1, while Trainer{0,2} stay stopped. They use torch.distributed:"
    )
    client.answer(request)
    assert running(client) == {threads[1]}
    client.request("next", threadId=threads[0])
    assert running(client) == {threads[0]}


def test_all_of_them_together_are_no_reason_for_a_warning(play: Play) -> None:
    client = play.session()
    workers, threads = trainers(play, client, "torch.distributed")
    assert client.request("raydap/step", threadId=threads[0], command="next") == {"threads": threads}
    assert running(client) == set(threads)
    for worker in workers:
        worker.stop()
        client.stop()
    assert client.request("raydap/continue") == {"threads": threads}
    assert running(client) == set(threads)


def test_a_step_moves_only_the_threads_at_its_line(play: Play) -> None:
    client = play.session()
    workers, threads = trainers(play, client, "")
    client.request("raydap/step", threadId=threads[2], command="next", select="rank:2")
    assert running(client) == {threads[2]}
    workers[2].line = 99
    workers[2].stop(reason="step")
    client.stop()
    for worker in workers:
        worker.collectives = "torch.distributed"
    play.tick(11.0)
    request = client.send("raydap/step", threadId=threads[0], command="next")
    text = client.told(Code.COLLECTIVE)
    assert text.startswith("You are resuming only Trainer{0-1}, while Trainer 2 stay stopped.")
    assert client.answer(request) == {"threads": threads[:2]}
    assert running(client) == set(threads[:2])


def test_workers_without_collectives_are_asked_again_only_after_a_while(play: Play) -> None:
    client = play.session()
    workers, threads = trainers(play, client, "")
    client.resume(threads[0])
    workers[1].collectives = "ray.util.collective"
    workers[1].heard.clear()
    client.resume(threads[1], "next")
    assert workers[1].commands() == ["next"]
    workers[1].stop(reason="step")
    client.stop()
    play.tick(11.0)
    client.send("next", threadId=threads[1])
    client.told(Code.COLLECTIVE)
    client.inbox.clear()


def test_a_worker_that_does_not_report_whether_it_uses_collectives_resumes(play: Play) -> None:
    client = play.session()
    workers, threads = trainers(play, client, "nonsense")
    client.resume(threads[0], "next")
    workers[1].hold = {"evaluate"}
    play.tick(11.0)
    request = client.send("next", threadId=threads[1])
    client.nothing()
    play.tick(2.0)
    client.answer(request)
    assert running(client) == {threads[1]}
