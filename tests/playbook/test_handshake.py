"""Attaching to workers and detaching from them (invariants 5, 6 and 7)."""

from collections.abc import Callable

import pytest

from raydap.core.effects import StopDiscovery
from raydap.core.events import WorkerConnected
from raydap.core.model import processes
from raydap.core.model.attaching import AT_ONCE
from raydap.core.workers import attach as handshake
from raydap.core.workers import detach
from raydap.errors import Code
from raydap.inworker import calls
from support.playbook import Play

Failure = Callable[[Play], None]


def test_everything_a_worker_has_to_know_comes_before_configuration_done(play: Play) -> None:
    client = play.session()
    client.request("setBreakpoints", source={"path": "/app/train.py"}, breakpoints=[{"line": 7}])
    client.request("setFunctionBreakpoints", breakpoints=[{"name": "step"}])
    client.request("setExceptionBreakpoints", filters=["raised"])
    worker = play.worker("w1")
    worker.hold.add("dial")
    play.paused(worker)
    assert worker.commands() == []
    worker.hold.add("initialized")
    worker.release("dial")
    assert worker.commands() == ["initialize", "attach"]
    worker.release("initialized")
    tune, _, lines, functions, exceptions, _ = worker.heard
    assert tune["arguments"] == {"expression": calls.enter(True), "context": "clipboard"}
    assert lines["arguments"]["breakpoints"] == [{"line": 7}]
    assert functions["arguments"]["breakpoints"] == [{"name": "step"}]
    assert exceptions["arguments"] == {"filters": ["raised"]}
    assert worker.commands() == [
        "evaluate",
        "evaluate",
        "setBreakpoints",
        "setFunctionBreakpoints",
        "setExceptionBreakpoints",
        "configurationDone",
    ]
    assert [client.event("breakpoint")["breakpoint"]["verified"] for _ in range(2)] == [True, True]


def test_the_attach_keeps_rays_breakpoint_and_stops_threads_one_by_one(play: Play) -> None:
    arguments = {"justMyCode": False, "pathMappings": [{"localRoot": "/home/me", "remoteRoot": "."}]}
    play.session(arguments)
    worker = play.worker("w1")
    play.paused(worker)
    (attach,) = [message for message in worker.heard if message["command"] == "attach"]
    assert attach["arguments"] == {
        **arguments,
        "clientOS": "unix",
        "rules": [{"module": "ray.util.debugpy", "include": True}],
        "steppingResumesAllThreads": False,
        "autoReload": {"watchDirectories": ["/"]},
    }


def test_a_worker_learns_that_the_client_is_on_windows(play: Play) -> None:
    play.session({"pathMappings": [{"localRoot": "c:\\Users\\dev", "remoteRoot": "."}]})
    (worker,) = play.attached("w1")
    (attach,) = [message for message in worker.heard if message["command"] == "attach"]
    assert attach["arguments"]["clientOS"] == "windows"


def test_tuning_can_be_left_out(play: Play) -> None:
    play.session({"tuneWorkers": False})
    (worker,) = play.attached("w1")
    (change,) = (each for each in worker.heard if each["command"] == "evaluate")
    assert change["arguments"]["expression"] == calls.enter(False)


def test_a_tuning_that_fails_is_only_logged(play: Play) -> None:
    client = play.session()
    worker = play.worker("w1")
    worker.hold.add("evaluate")
    play.paused(worker)
    (tune,) = [message for message in worker.heard if message["command"] == "evaluate"]
    worker.refuse(tune, "no writer")
    play.warned("failed evaluate: no writer")
    worker._held.clear()
    worker.stop()
    client.stop()


def test_a_bounded_number_of_handshakes_at_a_time(play: Play) -> None:
    client = play.session()
    workers = [play.worker(f"w{number}") for number in range(AT_ONCE + 4)]
    for worker in workers:
        worker.hold.add("attach")
    play.paused(*workers)
    assert [worker.dials for worker in workers] == [1] * AT_ONCE + [0] * 4
    workers[3].release()
    workers[9].die(refused=True)
    client.told(Code.WORKER_REFUSED)
    assert [worker.dials for worker in workers] == [1] * (AT_ONCE + 2) + [0] * 2
    for worker in workers:
        worker.release()
    assert [worker.dials for worker in workers] == [1] * len(workers)


def fails_refused(play: Play) -> None:
    play.workers["bad"].die("connection refused", refused=True)


def fails_unreachable(play: Play) -> None:
    play.workers["bad"].die("no route to host")


def fails_silent(play: Play) -> None:
    play.workers["bad"].release("dial")
    play.tick(handshake.HANDSHAKE_TIMEOUT_S)


def fails_died(play: Play) -> None:
    play.workers["bad"].release("dial")
    play.workers["bad"].die()


def fails_rejected(play: Play) -> None:
    bad = play.workers["bad"]
    bad.release("dial")
    bad.refuse(bad.heard[-1], "another client is there")


FAILURES: dict[Failure, Code] = {
    fails_refused: Code.WORKER_REFUSED,
    fails_unreachable: Code.WORKER_UNREACHABLE,
    fails_silent: Code.WORKER_SILENT,
    fails_died: Code.WORKER_BUSY,
    fails_rejected: Code.WORKER_BUSY,
}


@pytest.mark.parametrize("fail", FAILURES)
def test_a_worker_that_cannot_be_attached_is_reported_once_and_tried_again(play: Play, fail: Failure) -> None:
    client = play.session()
    bad, good = play.worker("bad"), play.worker("good")
    bad.hold |= {"dial", "initialize", "initialized"}
    play.paused(bad, good)
    good.stop()
    client.stop()
    fail(play)
    client.told(FAILURES[fail])
    # The worker stays listed. raydap does not try again until its delay has passed.
    play.tick(processes.DELAYS_S[0] - 1)
    play.paused(bad)
    assert bad.dials == 1
    bad._held.clear()
    bad.hold |= {"dial"}
    play.tick(1)
    play.paused(bad)
    assert bad.dials == 2
    fail(play)
    client.nothing()
    play.tick(processes.DELAYS_S[0] * 2 - 1)
    play.paused(bad)
    assert bad.dials == 2
    bad._held.clear()
    bad.hold.clear()
    play.tick(1)
    play.paused(bad)
    bad.stop()
    client.stop()


def test_a_failure_is_forgotten_when_the_worker_pauses_anew(play: Play) -> None:
    client = play.session()
    bad = play.worker("bad")
    bad.hold.add("dial")
    for _ in range(2):
        play.paused(bad)
        fails_refused(play)
        client.told(Code.WORKER_REFUSED)
        play.paused()
    assert bad.dials == 2


def test_a_second_initialized_configures_nothing_again(play: Play) -> None:
    play.session()
    worker = play.worker("w1")
    worker.hold.add("initialized")
    play.paused(worker)
    worker.release()
    worker.commands()
    worker.say("initialized")
    assert worker.commands() == []


@pytest.mark.parametrize("step", ["dial", "initialized"])
def test_a_worker_that_is_no_longer_wanted_is_left_waiting(play: Play, step: str) -> None:
    """Closing before `initialized` kills debugpy's adapter. Closing just after it leaves the worker paused."""
    client = play.session()
    worker = play.worker("w1")
    worker.hold.add(step)
    play.paused(worker)
    client.leave()
    play.take(StopDiscovery)
    assert worker.connected
    assert not play.bridge.idle
    worker.release()
    assert worker.commands() == ["initialize", "attach"]
    assert not worker.connected
    assert play.bridge.idle


def test_a_worker_that_is_being_configured_is_resumed_and_detached(play: Play) -> None:
    client = play.session()
    worker = play.worker("w1")
    worker.hold.add("attach")
    play.paused(worker)
    client.leave()
    play.take(StopDiscovery)
    assert worker.commands()[-1] == "configurationDone"
    worker.release()
    untune, disconnect = worker.heard
    assert untune["arguments"]["expression"] == calls.leave(True)
    assert disconnect["arguments"] == {"terminateDebuggee": False}
    assert not worker.connected


def test_leaving_resumes_attached_workers_and_never_terminates_them(play: Play) -> None:
    client = play.session()
    workers = play.attached("w1", "w2")
    workers[0].stop()
    client.stop()
    for worker in workers:
        worker.commands()
    client.leave()
    play.take(StopDiscovery)
    for worker in workers:
        assert worker.commands() == ["evaluate", "disconnect"]
        assert not worker.connected


def test_a_worker_is_detached_once_it_has_answered_everything_disconnect_last(play: Play) -> None:
    first = play.session()
    (worker,) = play.attached("w1")
    worker.stop()
    thread = first.stop()["threadId"]
    worker.hold |= {"stackTrace", "disconnect"}
    first.send("stackTrace", threadId=thread)
    worker.commands()
    first.leave()
    play.take(StopDiscovery)
    assert worker.commands() == ["evaluate"]
    worker.release("stackTrace")
    assert worker.commands() == ["disconnect"]
    assert worker.connected
    assert not play.bridge.idle
    second = play.session()
    worker.stop()  # Later events of the worker are not for the next session.
    second.nothing()
    play.paused(worker)
    worker.release()
    assert not worker.connected
    play.tick(detach.REDIAL_DELAY_S)
    assert worker.dials == 2


def test_an_answer_that_never_comes_does_not_keep_a_worker(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.stop()
    thread = client.stop()["threadId"]
    worker.hold.add("stackTrace")
    client.send("stackTrace", threadId=thread)
    client.leave()
    play.take(StopDiscovery)
    worker.commands()
    play.tick(handshake.HANDSHAKE_TIMEOUT_S)
    assert worker.commands() == ["disconnect"]
    assert not worker.connected


def test_a_worker_that_dies_while_leaving_is_forgotten(play: Play) -> None:
    client = play.session()
    workers = [play.worker(key) for key in ("w1", "w2", "w3")]
    for worker, step in zip(workers, ("dial", "initialized", "attach"), strict=True):
        worker.hold.add(step)
    play.paused(*workers)
    client.leave()
    play.take(StopDiscovery)
    for worker in workers:
        worker.die()
    assert play.bridge.idle


def test_a_worker_that_is_silent_while_leaving_is_hung_up(play: Play) -> None:
    client = play.session()
    worker = play.worker("w1")
    worker.hold |= {"initialize", "initialized"}
    play.paused(worker)
    client.leave()
    play.take(StopDiscovery)
    play.tick(handshake.HANDSHAKE_TIMEOUT_S)
    assert not worker.connected


def test_workers_left_in_a_handshake_are_found_again_by_the_next_session(play: Play) -> None:
    first = play.session()
    worker = play.worker("w1")
    worker.hold.add("initialized")
    play.paused(worker)
    first.leave()
    play.take(StopDiscovery)
    second = play.session()
    play.paused(worker)
    assert worker.dials == 1
    worker.release()
    play.paused(worker)
    assert worker.dials == 1  # Dialled before it has finished with the last client, its adapter would go deaf.
    play.tick(detach.REDIAL_DELAY_S)
    assert worker.dials == 2
    worker.stop()
    second.stop()


def test_news_of_workers_that_are_not_ours_is_ignored(play: Play) -> None:
    play.session()
    worker = play.worker("stranger")
    play.feed(WorkerConnected(worker.key))
    worker.say("stopped", {"reason": "breakpoint", "threadId": 1})
    worker.die()
    assert worker.commands() == []


def test_breakpoints_come_after_what_they_depend_on(play: Play) -> None:
    """Otherwise the breakpoints would stop all threads of the process, and debugpy reports only one of them."""
    client = play.session()
    worker = play.worker("w1")
    worker.hold.add("evaluate")
    play.paused(worker)
    client.request("setBreakpoints", source={"path": "/app/train.py"}, breakpoints=[{"line": 7}])
    assert worker.commands() == ["initialize", "attach", "evaluate"]
    worker.release("evaluate")
    commands = worker.commands()
    assert commands.index("setBreakpoints") < commands.index("configurationDone")
    client.event("breakpoint")


def test_a_mistake_in_the_handshake_leaves_no_worker_half_attached(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    client = play.session()
    play.errors_expected = True
    worker = play.worker("w1")
    with monkeypatch.context() as broken:
        broken.setattr(handshake, "set_exception_breakpoints", lambda _: 1 / 0)
        play.paused(worker)
    assert "please report" in client.told(Code.INTERNAL)
    assert not worker.connected
    play.tick(processes.DELAYS_S[0])
    play.paused(worker)
    worker.stop()
    client.stop()


def test_a_mistake_while_a_worker_detaches_does_not_keep_it(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    play.errors_expected = True
    with monkeypatch.context() as broken:
        broken.setattr(detach, "check_quiet", lambda *_: 1 / 0)
        client.request("raydap/detach", workers=["w1"])
    assert not worker.connected


def test_a_worker_that_answers_attach_too_early_is_still_configured(play: Play) -> None:
    client = play.session()
    worker = play.worker("w1")
    worker.hold.add("initialized")
    play.paused(worker)
    (attach,) = [message for message in worker.heard if message["command"] == "attach"]
    worker.reply(attach)
    assert "configurationDone" in worker.commands()
    worker.stop()
    client.stop()
