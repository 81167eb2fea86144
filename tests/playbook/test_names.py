"""A worker has one name, which all clients and answers contain."""

from raydap.core.events import FactsListed
from raydap.core.process_info import RayFacts
from support.fake_client import FakeClient
from support.fake_worker import FakeWorker
from support.playbook import Play


def trainer(number: int, created: int = 3, **more: object) -> RayFacts:
    fields = {"task": "Trainer.step", "actor": "Trainer", "job": "01", "rank": number, "created": created, **more}
    return RayFacts(**fields)  # type: ignore[arg-type]


def stopped(play: Play, client: FakeClient, **facts: RayFacts) -> list[FakeWorker]:
    workers = [play.worker(key, each) for key, each in facts.items()]
    play.paused(*workers)
    for worker in workers:
        worker.stop()
        client.stop()
    return workers


def names(client: FakeClient) -> list[str]:
    return [thread["name"].partition(" · 10")[0] for thread in client.request("threads")["threads"]]


def titles(client: FakeClient) -> list[str]:
    return [worker["title"] for worker in client.request("raydap/workers")["workers"]]


def test_the_number_does_not_depend_on_the_order_of_stops(play: Play) -> None:
    client = play.session()
    stopped(play, client, w1=trainer(2), w2=trainer(0), w3=RayFacts("prepare", job="01"))
    assert names(client) == ["Trainer 2 · step", "Trainer 0 · step", "prepare"]
    assert titles(client) == ["Trainer 2", "Trainer 0", "prepare 103"]
    assert client.request("raydap/stacks")["root"]["label"] == "Trainer{0,2}, prepare 103"
    groups = client.request("raydap/evaluate", expression="x", select="Trainer 2")["groups"]
    assert [group["label"] for group in groups] == ["Trainer 2"]


def test_a_restarted_actor_has_the_name_of_the_ended_one(play: Play) -> None:
    client = play.session()
    worker, _ = stopped(play, client, w1=trainer(1), w2=trainer(0))
    worker.die()
    play.warned("is lost")
    client.inbox.clear()
    stopped(play, client, w9=trainer(1), w8=trainer(2))
    assert titles(client) == ["Trainer 0", "Trainer 1", "Trainer 2"]


def changed_titles(client: FakeClient) -> dict[str, str]:
    """Return the last title of each worker in the events since the last call, by the workers' keys."""
    found = [each["body"]["workers"] for each in client.inbox if each.get("event") == "raydap/workersChanged"]
    client.inbox.clear()
    return {worker["key"]: worker["title"] for workers in found for worker in workers}


def test_the_second_actor_of_a_class_gives_the_first_one_its_number(play: Play) -> None:
    client = play.session(supportsInvalidatedEvent=True)
    client.request("raydap/workers")
    first = play.worker("w1", trainer(0, 1))
    play.paused(first)
    first.stop()
    assert changed_titles(client) == {"w1": "Trainer"}
    assert names(client) == ["Trainer · step"]
    play.paused(first, play.worker("w2", trainer(1, 2)))
    assert changed_titles(client) == {"w1": "Trainer 0", "w2": "Trainer 1"}
    assert names(client) == ["Trainer 0 · step"]


def test_the_rank_that_a_worker_reports_wins(play: Play) -> None:
    client = play.session()
    workers = [play.worker("w1", trainer(0)), play.worker("w2", trainer(1)), play.worker("w3", RayFacts("f", job="01"))]
    workers[0].rank, workers[1].rank, workers[2].rank = "7", "", "9"
    play.paused(*workers)
    for worker in workers:
        worker.stop()
        client.stop()
    assert names(client) == ["Trainer 7 · step", "Trainer 1 · step", "f"]
    assert titles(client) == ["Trainer 7", "Trainer 1", "f 103"]


def test_actors_with_names_of_their_own_are_called_by_them(play: Play) -> None:
    client = play.session()
    stopped(play, client, w1=trainer(0, given_name="chief"), w2=trainer(1, given_name="Trainer(lr=1)"), w3=trainer(2))
    assert titles(client) == ["chief", "Trainer(lr=1)", "Trainer 2"]
    assert client.request("raydap/select", select="Trainer{0-1}") == {"workers": ["w1", "w2"]}
    assert client.request("raydap/stacks")["root"]["label"] == "Trainer{0-2}"


def test_facts_that_come_later_rename_a_worker(play: Play) -> None:
    client = play.session()
    (worker,) = stopped(play, client, w1=RayFacts())
    assert titles(client) == ["worker 101"]
    play.feed(FactsListed({worker.row.key: trainer(3)}))
    client.inbox.clear()
    assert titles(client) == ["Trainer 3"]
