"""Ray reports what a worker runs some time after its pause. Until then raydap shows what it knew before."""

from raydap.core.events import WorkersAlive
from raydap.core.process_info import RayFacts
from support.alive_workers import end, told, watching
from support.playbook import Play

ACTOR = RayFacts(task="Trainer.step", actor="Trainer", job="01000000")


def test_a_worker_that_pauses_keeps_the_name_of_its_actor(play: Play) -> None:
    client = watching(play)
    worker, other = play.worker("w1", pid=7), play.worker("w2")
    play.feed(WorkersAlive({worker.row: ACTOR, other.row: RayFacts(task="normalise")}))
    told(client)
    worker.hold = other.hold = {"attach"}
    play.paused(worker, other)
    entries = {entry["key"]: entry for entry in client.event("raydap/workersChanged")["workers"]}
    # The actor may run another method by now.
    assert [entries["w1"][name] for name in ("actor", "job", "task", "label")] == [
        "Trainer",
        "01000000",
        "",
        "Trainer",
    ]
    assert [entries["w2"][name] for name in ("task", "label")] == ["", "worker"]
    worker.release()
    other.release()
    end(play, client)


def test_filters_wait_for_what_ray_says_of_the_pause(play: Play) -> None:
    client = watching(play, {"actor": "Trainer"})
    worker = play.worker("w1", pid=7)
    play.feed(WorkersAlive({worker.row: ACTOR}))
    told(client)
    play.paused(worker)
    assert told(client) == [("w1", "paused")]
    end(play, client)
