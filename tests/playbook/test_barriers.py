"""Breakpoints that hold each worker until all of its class have arrived (docs/usage/barriers.md)."""

import pytest

from raydap.core.effects import AskActors, StopDiscovery, WatchAlive
from raydap.errors import Code
from support.barriers import PATH, TRAINER, answer, arrive, listed, ran_on, set_barrier, shown, trainers
from support.playbook import Play


def test_all_are_shown_when_the_last_one_arrives(play: Play) -> None:
    client = play.session()
    set_barrier(client)
    workers = trainers(play, 3)
    for worker in workers[:2]:
        arrive(worker)
        client.nothing()
    assert client.request("threads") == {"threads": []}
    states = [each["state"] for each in client.request("raydap/workers")["workers"]]
    assert states == ["held", "held", "running"]
    arrive(workers[2])
    while client.inbox:
        client.event("raydap/workersChanged")
    answer(play, *workers)
    events = [client.inbox.pop(0) for _ in list(client.inbox)]
    stops = [each["body"] for each in events if each["event"] == "stopped"]
    assert [stop["reason"] for stop in stops] == ["breakpoint"] * 3
    assert [stop["preserveFocusHint"] for stop in stops] == [False, True, True]
    assert len(client.request("threads")["threads"]) == 3
    assert client.request("raydap/barriers") == {"barriers": []}


def test_workers_get_a_breakpoint_that_stops_each_time(play: Play) -> None:
    client = play.session()
    set_barrier(client, "all 2", condition="x > 1")
    (worker,) = trainers(play, 1)
    told = [each["arguments"]["breakpoints"] for each in worker.heard if each["command"] == "setBreakpoints"]
    assert told == [[{"line": 7, "condition": "x > 1"}]]


def test_a_wrong_barrier_is_not_set_and_its_message_says_why(play: Play) -> None:
    client = play.session()
    first = set_barrier(client, "all of them")
    assert not first["verified"]
    assert "`of` is not allowed there" in first["message"]
    specs = [{"line": 5, "hitCondition": "all 0"}, {"line": 7}]
    client.request("setBreakpoints", source={"path": PATH}, breakpoints=specs)
    (worker,) = trainers(play, 1)
    told = [each["arguments"]["breakpoints"] for each in worker.heard if each["command"] == "setBreakpoints"]
    assert told == [[{"line": 7}]]
    views = client.request("setBreakpoints", source={"path": PATH}, breakpoints=specs)["breakpoints"]
    assert [view["verified"] for view in views] == [False, True]


def test_a_count_is_enough(play: Play) -> None:
    client = play.session()
    set_barrier(client, "all 2")
    workers = trainers(play, 3)
    arrive(workers[0])
    client.nothing()
    arrive(workers[2])
    assert len(shown(client)) == 2


def test_a_worker_that_ends_is_not_waited_for(play: Play) -> None:
    client = play.session()
    set_barrier(client)
    workers = trainers(play, 3)
    arrive(workers[0])
    arrive(workers[1])
    workers[2].die()
    answer(play, *workers[:2])
    assert len(shown(client)) == 2


def test_a_worker_that_ends_counts_towards_a_number(play: Play) -> None:
    client = play.session()
    set_barrier(client, "all 3")
    workers = trainers(play, 3)
    arrive(workers[0])
    arrive(workers[1])
    workers[2].die()
    assert len(shown(client)) == 2


def test_a_worker_that_ends_while_it_waits_is_forgotten(play: Play) -> None:
    client = play.session()
    set_barrier(client)
    workers = trainers(play, 2)
    arrive(workers[0])
    workers[0].die()
    arrive(workers[1])
    answer(play, workers[1])
    assert len(shown(client)) == 1


def test_an_actor_that_starts_is_waited_for_where_raydap_reaches_new_ones(play: Play) -> None:
    client = play.session({"reach": "any"})
    set_barrier(client)
    play.take(WatchAlive)
    (worker,) = trainers(play, 1)
    arrive(worker)
    answer(play, worker, starting=1)
    client.nothing()
    play.tick(2.0)
    assert "1 of 2 arrived, missing: 1 starting" in client.event("output")["output"]
    answer(play, worker)
    assert len(shown(client)) == 1


def test_a_worker_that_has_started_is_not_counted_twice(play: Play) -> None:
    client = play.session({"reach": "any"}, supportsProgressReporting=True)
    set_barrier(client)
    play.take(WatchAlive)
    workers = trainers(play, 1)
    arrive(workers[0])
    answer(play, *workers, starting=2)
    play.tick(1.0)
    assert client.event("progressStart")["message"] == "1 of 3 arrived, missing: 2 starting"
    client.event("output")
    answer(play, workers[0], starting=2)
    workers += [play.worker(f"w{number}", TRAINER) for number in (1, 2)]
    play.paused(*workers)
    arrive(workers[1])
    play.tick(1.0)
    assert client.event("progressUpdate")["message"] == "2 of 3 arrived, missing: Trainer 2 (running)"
    arrive(workers[2])
    answer(play, *workers)
    client.event("progressEnd")
    assert len(shown(client)) == 3


def test_a_worker_that_raydap_does_not_reach_is_not_waited_for(play: Play) -> None:
    client = play.session({"reach": "paused"})
    set_barrier(client)
    workers = trainers(play, 1)
    other = play.worker("other", TRAINER)
    arrive(workers[0])
    answer(play, workers[0], other, starting=1)
    assert len(shown(client)) == 1


def test_without_an_answer_of_rays_the_attached_ones_count(play: Play) -> None:
    client = play.session()
    set_barrier(client)
    (worker,) = trainers(play, 1)
    arrive(worker)
    play.take(AskActors)
    client.nothing()
    play.tick(6.0)
    assert len(shown(client)) == 1
    play.feed(listed(worker))


def test_the_time_is_a_limit(play: Play) -> None:
    client = play.session()
    set_barrier(client, "all 10s")
    workers = trainers(play, 2)
    arrive(workers[0])
    play.tick(0.5)
    client.nothing()
    play.tick(10.0)
    text = client.event("output")["output"]
    assert (
        text == "Barrier at train.py:7: the time limit of 10 s is over; 1 of 2 arrived, missing: Trainer 1 (running).\n"
    )
    assert len(shown(client)) == 1


def test_progress_names_missing_workers_and_its_cancel_shows_the_waiting_ones(play: Play) -> None:
    client = play.session(supportsProgressReporting=True)
    set_barrier(client)
    workers = trainers(play, 4)
    workers[3].path = "/app/other.py"
    workers[3].stop()
    client.stop()
    arrive(workers[0])
    play.tick(1.5)
    start = client.event("progressStart")
    assert (start["title"], start["cancellable"]) == ("Barrier at train.py:7", True)
    missing = "Trainer 1 (running), Trainer 2 (running), Trainer 3 (stopped)"
    assert start["message"] == f"1 of 4 arrived, missing: {missing}"
    assert start["message"] in client.event("output")["output"]
    arrive(workers[1])
    play.tick(1.0)
    update = client.event("progressUpdate")
    assert update["message"].startswith("2 of 4 arrived, missing: Trainer 2 (running")
    (barrier,) = client.request("raydap/barriers")["barriers"]
    assert (barrier["arrived"], barrier["of"], barrier["path"], barrier["line"]) == (2, 4, PATH, 7)
    assert (barrier["label"], barrier["text"]) == ("Trainer{0-1}", update["message"])
    assert [each["worker"] for each in barrier["missing"]] == ["w2", "w3"]
    client.request("cancel", progressId=start["progressId"])
    assert client.event("progressEnd")["progressId"] == start["progressId"]
    assert len(shown(client)) == 2


def test_waiting_workers_are_shown_or_released(play: Play) -> None:
    client = play.session()
    set_barrier(client)
    workers = trainers(play, 3)
    arrive(workers[0])
    said = client.request("evaluate", expression="/barriers release", context="repl")["result"]
    assert said.startswith("train.py:7: 1 of 3 arrived")
    assert ran_on(workers[0])
    workers[0].resume()
    arrive(workers[1])
    (barrier,) = client.request("raydap/barriers")["barriers"]
    assert client.request("raydap/barriers", barrier=barrier["id"], action="show") == {"barriers": []}
    assert len(shown(client)) == 1
    assert "no longer exists" in client.refused(Code.STALE_ID, "raydap/barriers", barrier=barrier["id"])
    said = client.request("evaluate", expression="/barriers", context="repl")["result"]
    assert said == "No worker waits at a barrier."
    client.refused(Code.BAD_ARGUMENT, "evaluate", expression="/barriers hide", context="repl")


def test_a_worker_that_cannot_be_released_is_shown(play: Play) -> None:
    client = play.session()
    set_barrier(client)
    workers = trainers(play, 2)
    arrive(workers[0])
    workers[0].hold = {"evaluate"}
    client.request("raydap/barriers", action="release")
    workers[0].refuse(workers[0].heard[-1], "not today")
    play.warned("cannot resume a thread: not today")
    assert len(shown(client)) == 1


@pytest.mark.parametrize("terms", [None, "all 1", "removed"])
def test_a_barrier_that_is_changed_counts_at_once(play: Play, terms: str | None) -> None:
    client = play.session()
    set_barrier(client)
    workers = trainers(play, 2)
    arrive(workers[0])
    workers[0].heard.clear()
    if terms == "removed":
        client.request("setBreakpoints", source={"path": PATH}, breakpoints=[])
        assert ran_on(workers[0])
    else:
        spec = {"line": 7, **({} if terms is None else {"hitCondition": terms})}
        client.request("setBreakpoints", source={"path": PATH}, breakpoints=[spec])
        assert len(shown(client)) == 1
    assert client.request("raydap/barriers") == {"barriers": []}


def test_in_a_loop_workers_that_were_shown_arrive_again(play: Play) -> None:
    client = play.session()
    set_barrier(client)
    workers = trainers(play, 2)
    for worker in workers:
        arrive(worker)
    answer(play, *workers)
    first, second = shown(client)
    client.resume(first)
    arrive(workers[0])
    client.nothing()
    client.resume(second)
    arrive(workers[1])
    answer(play, *workers)
    assert sorted(shown(client)) == sorted([first, second])


def test_a_stop_that_comes_before_the_answer_to_continue_is_no_stop_any_more(play: Play) -> None:
    client = play.session()
    set_barrier(client)
    workers = trainers(play, 2)
    workers[0].stop(reason="step")
    thread = client.stop()["threadId"]
    workers[0].hold = {"evaluate"}
    request = client.send("continue", threadId=thread)
    arrive(workers[0])
    client.event("continued")
    workers[0].release()
    client.answer(request)
    assert client.request("threads") == {"threads": []}


def test_a_step_to_the_barrier_is_shown_and_counts(play: Play) -> None:
    client = play.session()
    set_barrier(client)
    workers = trainers(play, 2)
    workers[0].stop(reason="step")
    thread = client.stop()["threadId"]
    client.resume(thread, "next")
    arrive(workers[0])
    assert client.stop()["threadId"] == thread
    arrive(workers[1])
    answer(play, *workers)
    assert len(shown(client)) == 1


def test_a_pause_shows_a_waiting_worker(play: Play) -> None:
    client = play.session()
    set_barrier(client)
    workers = trainers(play, 2)
    arrive(workers[0])
    client.request("raydap/pause", workers=["w0"])
    assert len(shown(client)) == 1
    arrive(workers[1])
    answer(play, *workers)
    assert len(shown(client)) == 1
    play.tick(1.0)


def test_a_plain_breakpoint_at_the_same_line_stops_at_once(play: Play) -> None:
    client = play.session()
    set_barrier(client)
    client.request("setFunctionBreakpoints", breakpoints=[{"name": "train"}])
    workers = trainers(play, 2)
    workers[0].stop(hitBreakpointIds=[0, 1])
    assert len(shown(client)) == 1


def test_an_older_debugpy_does_not_say_which_breakpoint_it_was(play: Play) -> None:
    client = play.session()
    set_barrier(client)
    workers = trainers(play, 2)
    workers[0].stop()
    client.nothing()
    workers[1].path = "/app/other.py"
    workers[1].stop()
    assert len(shown(client)) == 1
    assert [each["arrived"] for each in client.request("raydap/barriers")["barriers"]] == [1]


def test_an_older_debugpy_that_does_not_say_where_it_is_is_shown(play: Play) -> None:
    client = play.session()
    set_barrier(client)
    workers = trainers(play, 2)
    for worker in workers:
        worker.hold = {"stackTrace"}
        worker.stop()
    workers[0].refuse(workers[0].heard[-1], "no stack today")
    assert len(shown(client)) == 1
    workers[1].die()
    assert shown(client) == []


def test_a_detach_releases_waiting_workers(play: Play) -> None:
    client = play.session()
    set_barrier(client)
    workers = trainers(play, 2)
    arrive(workers[0])
    client.leave()
    play.take(StopDiscovery)
    assert "disconnect" in workers[0].commands()
    play.tick(1.0)


def test_explicit_targets_are_a_class(play: Play) -> None:
    client = play.session()
    set_barrier(client)
    workers = [play.worker(f"w{number}", worker_type="TARGET") for number in range(2)]
    play.paused(*workers)
    while client.inbox:
        client.event("breakpoint")
    arrive(workers[0])
    client.nothing()
    arrive(workers[1])
    assert len(shown(client)) == 2
