"""Which workers are attached, their names, and what happens when they end."""

from typing import Any

import pytest

from raydap.core.events import FactsListed, WorkersEnded
from raydap.core.process_info import EndedWorker, RayFacts
from raydap.core.workers import detach
from raydap.core.workers.loss import RUNNING_WAIT_S, STOPPED_WAIT_S
from raydap.errors import Code
from support.playbook import Play

ACTOR = RayFacts(task="Trainer.step", actor="Trainer", actor_name="lead", job="01000000", submission="raysubmit_7")


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ({"job": "01000000"}, True),
        ({"job": "raysubmit_*"}, True),
        ({"job": "02000000"}, False),
        ({"actor": "Train*"}, True),
        ({"actor": "lead"}, True),
        ({"actor": "trainer"}, False),
        ({"task": "Trainer.step"}, True),
        ({"task": "step"}, True),
        ({"task": "*.reset"}, False),
        ({"node": "10.0.0.?"}, True),
        ({"node": "node-a"}, True),
        ({"node": "abc123"}, True),
        ({"node": "10.0.1.*"}, False),
        ({"job": "01000000", "actor": "Other"}, False),
    ],
)
def test_filters(play: Play, arguments: dict[str, Any], wanted: bool) -> None:
    play.session(arguments)
    worker = play.worker("w1", ACTOR, node="node-a", node_id="abc123")
    play.paused(worker)
    assert worker.dials == wanted


@pytest.mark.parametrize(("pattern", "wanted"), [("Map(*)", True), ("_map_task", True), ("Filter(*)", False)])
def test_a_task_is_chosen_by_its_name_too(play: Play, pattern: str, wanted: bool) -> None:
    play.session({"task": pattern})
    worker = play.worker("w1", RayFacts("_map_task", given_name="Map(double)"))
    play.paused(worker)
    assert worker.dials == wanted


def test_a_filter_waits_for_the_label(play: Play) -> None:
    play.session({"task": "Trainer.step"})
    worker = play.worker("w1")
    play.paused(worker)
    assert play.described == ["w1"]
    assert worker.dials == 0
    play.feed(FactsListed({worker.key: ACTOR}))
    assert worker.dials == 1


def test_a_worker_that_is_not_paused_any_more_is_not_dialled(play: Play) -> None:
    play.session({"task": "Trainer.step"})
    worker = play.worker("w1")
    play.paused(worker)
    play.paused()
    play.feed(FactsListed({worker.key: ACTOR}))
    assert worker.dials == 0


def test_no_more_workers_than_wanted(play: Play) -> None:
    client = play.session({"maxWorkers": 2, "actor": "Trainer"})
    workers = [play.worker(f"w{number}", ACTOR) for number in range(4)]
    other = play.worker("other", RayFacts(task="f"))
    play.paused(*workers[:2], other)
    client.nothing()
    play.paused(*workers, other)
    assert "2 workers" in client.told(Code.TOO_MANY_WORKERS)
    assert [worker.dials for worker in workers] == [1, 1, 0, 0]
    play.paused(*workers, other)
    workers[0].die()
    assert [worker.dials for worker in workers] == [1, 1, 1, 0]
    assert other.dials == 0


@pytest.mark.parametrize(
    ("label", "row", "name"),
    [
        (ACTOR, {"pid": 7, "node": "node-a"}, "Trainer · step · 7 · node-a"),
        (RayFacts(actor="Trainer"), {"pid": 7, "node": "node-a"}, "Trainer · 7 · node-a"),
        (RayFacts("Trainer", "Trainer"), {"pid": 7, "node": "node-a"}, "Trainer · 7 · node-a"),
        (
            RayFacts("Trainer.step", "Trainer", rank=2),
            {"pid": 7, "node": "node-a"},
            "Trainer 2 · step · 7 · node-a",
        ),
        (RayFacts("_map_task", given_name="Map(f)"), {"pid": 7, "node": "node-a"}, "Map(f) · 7 · node-a"),
        (None, {"pid": 7, "node": "node-a", "worker_type": "DRIVER"}, "driver · 7 · node-a"),
        (None, {"pid": 7, "node": ""}, "worker · 7 · 10.0.0.1"),
        (None, {"pid": 0, "node": "", "worker_type": "TARGET"}, "worker · 4711 · 10.0.0.1"),
    ],
)
def test_names_of_threads(play: Play, label: RayFacts | None, row: dict[str, Any], name: str) -> None:
    client = play.session()
    worker = play.worker("w1", label, **row)
    play.paused(worker)
    worker.stop()
    thread = client.stop()["threadId"]
    assert client.request("threads") == {"threads": [{"id": thread, "name": name}]}


def test_a_label_that_comes_late_renames_the_thread_for_clients_that_support_it(play: Play) -> None:
    plain = play.session()
    able = play.joined(supportsInvalidatedEvent=True)
    (worker,) = play.attached("w1")
    play.feed(FactsListed({worker.key: RayFacts(actor="Trainer")}))
    able.nothing()
    worker.stop()
    plain.stop()
    thread = able.stop()["threadId"]
    for client in (plain, able):
        client.request("stackTrace", threadId=thread)
    play.feed(FactsListed({worker.key: ACTOR}))
    assert able.event("thread") == {"reason": "started", "threadId": thread}
    plain.nothing()
    assert plain.request("threads")["threads"][0]["name"].startswith("Trainer · step · ")
    play.feed(FactsListed({worker.key: ACTOR}))
    able.nothing()


def test_an_editor_that_is_just_showing_a_stop_hears_of_a_name_afterwards(play: Play) -> None:
    """VS Code drops a stop if it receives a `thread` event for that thread while it shows the stop."""
    editor = play.session(supportsInvalidatedEvent=True)
    (worker,) = play.attached("w1")
    for number, label in enumerate((RayFacts(actor="Trainer"), ACTOR)):
        worker.stop()
        thread = editor.stop()["threadId"]
        editor.request("threads")
        editor.request("stackTrace", threadId=thread, levels=1)
        play.feed(FactsListed({worker.key: label}))
        editor.nothing()
        editor.request("stackTrace", threadId=thread, startFrame=1, levels=19)
        assert editor.event("thread") == {"reason": "started", "threadId": thread}, number
        editor.request("stackTrace", threadId=thread)
        editor.nothing()
        editor.request("continue", threadId=thread)
        editor.event("continued")


def test_an_editor_that_asks_for_names_anyway_gets_no_event(play: Play) -> None:
    editor = play.session(supportsInvalidatedEvent=True)
    (worker,) = play.attached("w1")
    worker.stop()
    thread = editor.stop()["threadId"]
    play.feed(FactsListed({worker.key: ACTOR}))
    assert editor.request("threads")["threads"][0]["name"].startswith("Trainer · step · ")
    editor.request("stackTrace", threadId=thread)
    editor.nothing()


def test_each_stop_asks_for_the_label_again_but_not_that_of_a_target(play: Play) -> None:
    client = play.session()
    worker, target = play.worker("w1"), play.worker("t1", worker_type="TARGET")
    play.paused(worker, target)
    worker.stop()
    client.stop()
    target.stop()
    client.stop()
    assert play.described == ["w1", "w1"]


def test_a_worker_that_is_attached_is_not_dialled_again(play: Play) -> None:
    play.session()
    (worker,) = play.attached("w1")
    play.paused(worker)
    play.paused()
    play.paused(worker)
    assert worker.dials == 1


def test_a_stopped_worker_that_dies_is_reported_and_the_others_stay(play: Play) -> None:
    client = play.session()
    one, two = play.attached("w1", "w2")
    one.stop()
    two.stop()
    first, second = client.stop()["threadId"], client.stop()["threadId"]
    one.hold.add("stackTrace")
    pending = client.send("stackTrace", threadId=first)
    one.die()
    assert "so stackTrace has no answer" in client.refusal(Code.WORKER_GONE, pending)
    told = client.told(Code.WORKER_GONE)
    assert "of the stopped worker 101 on 10.0.0.1 is lost (connection reset)" in told
    assert "is running again and can stop here again at its next breakpoint()" in told
    assert client.event("thread") == {"reason": "exited", "threadId": first}
    assert [thread["id"] for thread in client.request("threads")["threads"]] == [second]
    assert client.request("stackTrace", threadId=second)["totalFrames"] == 2


def test_of_a_stopped_worker_whose_process_has_ended_nothing_more_is_promised(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.stop()
    client.stop()
    worker.say("terminated")
    client.event("thread")
    play.tick(STOPPED_WAIT_S)
    told = client.told(Code.WORKER_GONE)
    assert (
        "The stopped worker 101 on 10.0.0.1 is gone (its process has ended). The other workers are not affected."
        in told
    )


def test_a_worker_that_is_no_ray_worker_does_not_wait_again(play: Play) -> None:
    client = play.session()
    worker = play.worker("t1", worker_type="TARGET")
    play.paused(worker)
    worker.stop()
    client.stop()
    worker.die()
    assert "if it is alive, is running again. The other workers are not affected." in client.told(Code.WORKER_GONE)
    client.event("thread")


def test_a_running_worker_that_dies_is_no_news(play: Play) -> None:
    client = play.session()
    one, two = play.attached("w1", "w2")
    one.stop()
    thread = client.stop()["threadId"]
    client.resume(thread)
    one.die()
    assert client.event("thread") == {"reason": "exited", "threadId": thread}
    two.die()
    client.nothing()


def test_a_worker_whose_process_has_ended_is_dropped_and_the_session_continues(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.stop()
    thread = client.stop()["threadId"]
    client.resume(thread)
    worker.commands()
    worker.say("exited", {"exitCode": 0})
    worker.say("terminated")
    assert client.event("thread") == {"reason": "exited", "threadId": thread}
    assert worker.commands() == []  # Its adapter may serve a parent that still runs.
    assert not worker.connected
    client.nothing()


def test_the_same_worker_can_be_attached_again_after_it_was_lost(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.stop()
    first = client.stop()["threadId"]
    worker.die()
    client.told(Code.WORKER_GONE)
    client.event("thread")
    play.paused(worker)
    assert worker.dials == 2
    worker.started.clear()
    worker.stop()
    assert client.stop()["threadId"] > first


def test_a_worker_gone_while_it_ran_is_reported_if_ray_reports_a_crash(play: Play) -> None:
    client = play.session()
    one, two, three = play.attached("w1", "w2", "w3")
    for worker in (one, two, three):
        worker.die()
    assert play.asked_exit_reasons == [one.row, two.row, three.row]
    client.nothing()
    reasons = ("Worker exits\nunexpectedly. More detail.", "Killed.", "Not needed any more.")
    ends = zip((one, two, three), reasons, (True, True, False), strict=True)
    play.feed(WorkersEnded(tuple(EndedWorker(worker.row, reason, crashed) for worker, reason, crashed in ends)))
    assert client.told(Code.WORKER_GONE).startswith(
        "The running worker 101 on 10.0.0.1 is gone (Worker exits unexpectedly). 1 more worker is gone, too. ["
    )
    play.tick(RUNNING_WAIT_S)
    client.nothing()


def test_a_worker_that_the_user_has_chosen_is_attached_beyond_the_limit(play: Play) -> None:
    client = play.session({"maxWorkers": 1})
    play.attached("w1")
    two, three = play.worker("w2"), play.worker("w3")
    play.paused(two, three)
    client.told(Code.TOO_MANY_WORKERS)
    client.request("raydap/attach", workers=["w3"])
    assert (two.dials, three.dials) == (0, 1)
    client.request("raydap/detach", workers=["w3"])
    play.paused(two, three)
    client.request("raydap/attach", workers=["w3"])
    assert three.dials == 1  # Its debugger has not finished with the last session yet.
    play.tick(detach.REDIAL_DELAY_S)
    assert (two.dials, three.dials) == (0, 2)


def with_facts(play: Play) -> list[str]:
    """Return the keys of the workers whose facts are kept."""
    return [process.key for process in play.bridge.state.run.processes if process.facts is not None]


def test_a_label_says_nothing_of_the_next_worker_under_the_same_key(play: Play) -> None:
    play.session({"task": "Trainer.step"})
    worker = play.worker("w1")
    other = play.worker("w2", ACTOR)
    play.paused(worker)
    play.feed(FactsListed({worker.key: RayFacts(task="other")}))
    play.paused()
    play.feed(FactsListed({worker.key: ACTOR}))  # This label comes too late.
    assert not with_facts(play)
    play.paused(worker, other)
    assert (worker.dials, other.dials) == (0, 1)
    assert with_facts(play) == ["w2"]


def test_a_label_of_an_attached_worker_says_nothing_of_its_next_pause(play: Play) -> None:
    client = play.session({"task": "Trainer.step"})
    worker = play.worker("w1", ACTOR)
    play.paused(worker)
    assert worker.dials == 1
    client.request("raydap/detach", workers=["w1"])
    worker.facts = None
    play.tick(detach.REDIAL_DELAY_S)
    client.request("raydap/attach")
    play.paused()
    play.paused(worker)
    assert worker.dials == 1
    play.feed(FactsListed({worker.key: RayFacts(task="other")}))
    assert worker.dials == 1


def test_a_worker_that_pauses_before_its_detach_is_judged_by_its_new_task(play: Play) -> None:
    client = play.session({"task": "Trainer.step"})
    worker = play.worker("w1", ACTOR)
    play.paused(worker)
    worker.hold.add("disconnect")
    client.request("raydap/detach", workers=["w1"])
    worker.facts = None
    play.paused(worker)
    worker.release()
    client.request("raydap/attach")
    play.tick(detach.REDIAL_DELAY_S)
    assert worker.dials == 1
    play.feed(FactsListed({worker.key: ACTOR}))
    assert worker.dials == 2
