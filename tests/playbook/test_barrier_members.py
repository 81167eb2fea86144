"""The workers that a barrier waits for, chosen by the code that they run."""

from raydap.core.events import FactsListed
from raydap.core.process_info import RayFacts
from support.barriers import TRAINER, answer, arrive, set_barrier, shown, trainers
from support.fake_worker import blocked
from support.playbook import Play


def test_tasks_have_two_seconds_because_their_list_lags(play: Play) -> None:
    client = play.session()
    set_barrier(client)
    workers = trainers(play, 2, RayFacts(task="prepare", job="01"))
    for worker in workers:
        arrive(worker)
    client.nothing()
    play.tick(3.0)
    assert len(shown(client)) == 2


def test_a_worker_that_runs_the_task_no_more_is_not_waited_for(play: Play) -> None:
    client = play.session()
    set_barrier(client)
    workers = trainers(play, 3, RayFacts(task="prepare", job="01"))
    workers[2].blocked = blocked(0)
    arrive(workers[0])
    play.tick(3.0)
    assert "1 of 3 arrived" in client.event("output")["output"]
    play.tick(1.0)
    (barrier,) = client.request("raydap/barriers")["barriers"]
    assert [(each["worker"], each["place"]) for each in barrier["missing"]] == [("w2", "train.py:41")]
    arrive(workers[2])
    assert len(shown(client)) == 2


def test_an_unknown_worker_is_shown_after_a_while(play: Play) -> None:
    client = play.session()
    set_barrier(client)
    (worker,) = trainers(play, 1, RayFacts())
    arrive(worker)
    client.nothing()
    play.tick(6.0)
    assert len(shown(client)) == 1


def test_workers_whose_class_comes_later_join_the_others(play: Play) -> None:
    client = play.session()
    set_barrier(client)
    workers = [play.worker(f"w{number}") for number in range(2)]
    play.paused(*workers)
    while client.inbox:
        client.event("breakpoint")
    for worker in workers:
        arrive(worker)
    assert len(client.request("raydap/barriers")["barriers"]) == 2
    play.tick(2.0)
    client.nothing()
    labels = {worker.key: TRAINER for worker in workers}
    play.feed(FactsListed(labels))
    answer(play, *workers)
    assert len(shown(client)) == 2


def test_an_attached_one_is_waited_for_before_ray_says_what_it_runs(play: Play) -> None:
    client = play.session()
    set_barrier(client)
    workers = [play.worker("w0", TRAINER), play.worker("w1")]
    play.paused(*workers)
    while client.inbox:
        client.event("breakpoint")
    arrive(workers[0])
    answer(play, *workers)
    client.nothing()
    workers[1].facts = TRAINER
    play.tick(2.0)
    answer(play, *workers)
    assert "missing" in client.event("output")["output"]
    arrive(workers[1])
    answer(play, *workers)
    assert len(shown(client)) == 2


def test_each_class_waits_for_its_own(play: Play) -> None:
    client = play.session()
    set_barrier(client)
    one = play.worker("w0", TRAINER)
    other = play.worker("w1", RayFacts(task="Critic.train", actor="Critic", job="01"))
    play.paused(one, other)
    while client.inbox:
        client.event("breakpoint")
    arrive(one)
    answer(play, one)
    assert len(shown(client)) == 1
