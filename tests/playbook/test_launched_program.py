"""Sessions that launch a program: its start, its end, and a restart."""

import json
from typing import Any

import pytest

from raydap.core.effects import StartDebuggee, StartDiscovery, StopDebuggee, StopDiscovery
from raydap.core.events import (
    DebuggeeExited,
    DebuggeeFailed,
    DebuggeeOutput,
    DebuggeeStarted,
    DiscoveryFailed,
    DiscoveryReady,
    TerminalNeeded,
)
from raydap.core.settings import LaunchSettings
from raydap.errors import Code, Problem
from support.fake_client import FakeClient
from support.playbook import Play

DOWN = DiscoveryFailed(Problem(Code.DASHBOARD_UNREACHABLE, "The dashboard does not answer."))


def launch(play: Play, **arguments: Any) -> tuple[FakeClient, int]:
    client = play.client()
    seq = client.send("launch", program="train.py", **arguments)
    more = {"supportsTerminateRequest": True, "supportsRestartRequest": True}
    assert client.event("capabilities") == {"capabilities": more}
    client.event("initialized")
    client.nothing()
    client.request("configurationDone")
    settings = play.take(StartDebuggee).settings
    assert settings == LaunchSettings(program="train.py", **arguments)
    assert play.take(StartDiscovery) == StartDiscovery(settings, patient=True)
    return client, seq


def test_a_program_whose_environment_forbids_agents_is_reported_once(play: Play) -> None:
    client, seq = launch(play)
    play.feed(DebuggeeStarted("train.py", 4711, off=True))
    client.answer(seq)
    client.event("process")
    told = client.told(Code.NO_AGENT)
    assert told.startswith(
        "train.py: Its environment contains RAYDAP=off, so breakpoints stop neither the program nor its workers."
    )
    client.nothing()
    play.feed(DebuggeeExited(0))
    client.event("output")
    client.event("exited")
    client.event("terminated")
    client.leave()
    play.take(StopDebuggee)
    play.take(StopDiscovery)


def test_a_launched_program_from_start_to_end(play: Play) -> None:
    client, seq = launch(play)
    play.feed(DebuggeeStarted("train.py", 4711))
    client.answer(seq)
    process = {"name": "train.py", "isLocalProcess": True, "startMethod": "launch", "systemProcessId": 4711}
    assert client.event("process") == process
    play.feed(DebuggeeOutput("stdout", "epoch 1\n"), DebuggeeOutput("stderr", "warning\n"))
    assert client.event("output") == {"category": "stdout", "output": "epoch 1\n"}
    assert client.event("output") == {"category": "stderr", "output": "warning\n"}
    play.feed(DOWN)
    client.told(Code.DASHBOARD_UNREACHABLE)
    play.feed(DiscoveryReady("the cluster"))
    client.event("output")
    (worker,) = play.attached("w1")
    worker.stop()
    client.stop()
    play.feed(DebuggeeExited(3))
    assert client.event("output")["output"] == "train.py has ended with exit code 3.\n"
    assert client.event("exited") == {"exitCode": 3}
    client.event("terminated")
    client.leave()
    play.take(StopDebuggee)
    play.take(StopDiscovery)


@pytest.mark.parametrize(
    ("arguments", "advice"),
    [
        ({}, "run `raydap run --wait train.py` in a terminal and attach to it."),
        ({"submit": True}, "Launch without submit, or give the value in args."),
    ],
)
def test_an_input_that_fails_is_explained_once(play: Play, arguments: dict[str, Any], advice: str) -> None:
    client, seq = launch(play, **arguments)
    play.feed(DebuggeeStarted("train.py", 4711))
    client.answer(seq)
    client.event("process")
    play.feed(DebuggeeOutput("stdout", "EOFError: EOF when reading a line\n"))
    client.event("output")
    client.nothing()
    for text in ("Traceback\nEOFErr", "or: EOF when reading a line\n"):
        play.feed(DebuggeeOutput("stderr", text))
        assert client.event("output")["output"] == text
    told = client.event("output")
    assert told["category"] == "console"
    assert told["output"].startswith("input() failed: ")
    assert told["output"].endswith(f"{advice}\n")
    play.feed(DebuggeeOutput("stderr", "EOFError: EOF when reading a line\n"))
    client.event("output")
    client.nothing()
    end(play, client)


def test_a_stop_for_an_input_that_fails_is_explained(play: Play) -> None:
    client = started(play)
    (driver,) = play.attached("d")
    driver.stop(reason="exception", text="EOFError", description="EOF when reading a line")
    assert client.event("output")["output"].startswith("input() failed: ")
    client.stop()
    play.feed(DebuggeeOutput("stderr", "EOFError: EOF when reading a line\n"))
    client.event("output")
    client.nothing()
    end(play, client)


@pytest.mark.parametrize("console", ["integratedTerminal", "externalTerminal"])
def test_a_client_that_opens_no_terminals_gets_the_reason_why_console_has_no_effect(play: Play, console: str) -> None:
    client, seq = launch(play, console=console)
    play.feed(DebuggeeStarted("train.py", 4711))
    client.answer(seq)
    client.event("process")
    told = client.event("output")["output"]
    assert told.startswith(f'"console": "{console}" has no effect here: ')
    assert "raydap run --wait train.py" in told
    client.nothing()
    end(play, client)


def launch_in_terminal(play: Play) -> tuple[FakeClient, int, dict[str, Any]]:
    """Launch a program in a terminal. Return the client, and the numbers of `launch` and of runInTerminal."""
    client = play.client(supportsRunInTerminalRequest=True)
    seq = client.send("launch", program="train.py", console="integratedTerminal")
    client.event("capabilities")
    client.event("initialized")
    client.request("configurationDone")
    assert play.take(StartDebuggee).in_terminal
    play.take(StartDiscovery)
    play.feed(TerminalNeeded(("python", "launcher.py", "socket"), "/work", "train.py"))
    return client, seq, client.inbox.pop(0)


def answer(client: FakeClient, request: dict[str, Any], success: bool = True) -> None:
    """Answer a request of raydap."""
    message = {"seq": 99, "type": "response", "request_seq": request["seq"], "success": success, "message": "no shell."}
    client.raw(json.dumps({**message, "command": request["command"]}).encode())


def test_a_program_runs_in_a_terminal_of_the_client_that_has_launched_it(play: Play) -> None:
    client, seq, request = launch_in_terminal(play)
    assert request["command"] == "runInTerminal"
    assert request["arguments"] == {
        "kind": "integrated", "title": "train.py", "cwd": "/work", "args": ["python", "launcher.py", "socket"],
    }  # fmt: skip
    answer(client, request)
    client.nothing()
    play.feed(DebuggeeStarted("train.py", 4711))
    client.answer(seq)
    client.event("process")
    client.nothing()
    end(play, client)


def test_a_client_that_refuses_the_terminal_gets_the_launch_refused(play: Play) -> None:
    client, seq, request = launch_in_terminal(play)
    answer(client, {**request, "seq": request["seq"] + 1}, success=False)
    client.nothing()
    answer(client, request, success=False)
    text = client.refusal(Code.LAUNCH_FAILED, seq)
    assert "client has opened no terminal (no shell). Use" in text
    play.take(StopDebuggee)
    play.warned(text)
    play.take(StopDebuggee)
    play.take(StopDiscovery)
    client.nothing()


def test_the_terminal_of_a_run_that_has_ended_is_not_requested(play: Play) -> None:
    client, _, _ = launch_in_terminal(play)
    client.hang_up()
    play.take(StopDebuggee)
    play.take(StopDiscovery)
    play.feed(TerminalNeeded(("python",), "/work", "train.py"))


NONE = DiscoveryFailed(Problem(Code.NO_CLUSTER, "No Ray cluster was found."))


def started(play: Play, **arguments: Any) -> FakeClient:
    client, seq = launch(play, **arguments)
    play.feed(DebuggeeStarted("train.py", 4711))
    client.answer(seq)
    client.event("process")
    return client


@pytest.mark.parametrize("failed", [DOWN, NONE])
def test_a_program_that_ends_its_cluster_has_no_problem(play: Play, failed: DiscoveryFailed) -> None:
    client = started(play)
    play.feed(DiscoveryReady("the cluster"))
    play.feed(failed)
    told = client.event("output")
    assert told["category"] == "console"
    assert told["output"].startswith("The program's Ray cluster has ended")
    play.feed(DiscoveryReady("the cluster"))
    assert client.event("output")["output"] == "the cluster answers again.\n"
    end(play, client)


def test_a_program_without_ray_has_no_problem(play: Play) -> None:
    client = started(play, reach="paused")
    play.feed(NONE)
    told = client.event("output")
    assert told["category"] == "console"
    assert told["output"].startswith("The program has neither joined nor started a Ray cluster yet.")
    end(play, client)


def test_an_outage_with_workers_is_a_problem(play: Play) -> None:
    client = started(play)
    play.feed(DiscoveryReady("the cluster"))
    play.attached("w1")
    play.feed(DOWN)
    client.told(Code.DASHBOARD_UNREACHABLE)
    end(play, client)


def end(play: Play, client: FakeClient) -> None:
    play.feed(DebuggeeExited(0))
    client.event("output")
    client.event("exited")
    client.event("terminated")
    client.leave()
    play.take(StopDebuggee)
    play.take(StopDiscovery)


def test_terminate_ends_the_launched_program_which_is_heard_to_its_end(play: Play) -> None:
    client, seq = launch(play)
    play.feed(DebuggeeStarted("train.py", 4711))
    client.answer(seq)
    client.event("process")
    client.request("terminate")
    assert play.take(StopDebuggee) == StopDebuggee(silently=False)
    play.feed(DebuggeeOutput("stderr", "Terminated\n"), DebuggeeExited(143))
    assert client.event("output")["output"] == "Terminated\n"
    assert client.event("output")["output"] == "train.py has ended with exit code 143.\n"
    assert client.event("exited") == {"exitCode": 143}
    client.event("terminated")


@pytest.mark.parametrize("arguments", [{}, {"arguments": None}, {"arguments": {}}])
def test_restart_ends_the_program_unheard_and_starts_it_again(play: Play, arguments: dict[str, Any]) -> None:
    client, seq = launch(play, cwd="/app")
    play.feed(DebuggeeStarted("train.py", 4711))
    client.answer(seq)
    client.event("process")
    client.request("restart", **arguments)
    assert play.take(StopDebuggee) == StopDebuggee(silently=True)
    assert play.take(StartDebuggee).settings == LaunchSettings(program="train.py", cwd="/app")
    play.feed(DebuggeeStarted("train.py", 4712))
    assert client.event("process")["systemProcessId"] == 4712


def test_restart_takes_new_arguments(play: Play) -> None:
    client, seq = launch(play)
    play.feed(DebuggeeStarted("train.py", 4711))
    client.answer(seq)
    client.event("process")
    again = {"program": "other.py", "args": ["2"], "__restart": True}
    for _ in range(2):
        client.request("restart", arguments=again)
        play.take(StopDebuggee)
        assert play.take(StartDebuggee).settings == LaunchSettings(program="other.py", args=("2",))
        again = {}


def test_a_restart_with_wrong_arguments_ends_nothing(play: Play) -> None:
    client, seq = launch(play)
    play.feed(DebuggeeStarted("train.py", 4711))
    client.answer(seq)
    client.event("process")
    assert '"programm"' in client.refused(Code.UNKNOWN_ARGUMENT, "restart", arguments={"programm": "x.py"})
    assert '"args"' in client.refused(Code.BAD_ARGUMENT, "restart", arguments={"program": "x.py", "args": 7})


def test_a_program_that_cannot_start_again_ends_the_session(play: Play) -> None:
    client, seq = launch(play)
    play.feed(DebuggeeStarted("train.py", 4711))
    client.answer(seq)
    client.event("process")
    client.request("restart", arguments={"program": "missing.py"})
    play.take(StopDebuggee)
    play.take(StartDebuggee)
    play.feed(DebuggeeFailed(Problem(Code.LAUNCH_FAILED, "There is no missing.py.")))
    assert "no missing.py" in client.told(Code.LAUNCH_FAILED)
    client.event("terminated")


@pytest.mark.parametrize("command", ["terminate", "restart"])
def test_what_was_not_launched_is_neither_ended_nor_restarted(play: Play, command: str) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.commands()
    assert "only for a launched program" in client.refused(Code.UNSUPPORTED, command)
    assert worker.commands() == []


@pytest.mark.parametrize("command", ["terminate", "restart"])
def test_what_has_not_begun_is_neither_ended_nor_restarted(play: Play, command: str) -> None:
    client = play.client()
    assert "only for a launched program" in client.refused(Code.UNSUPPORTED, command)
    client.send("launch", program="train.py")
    client.event("capabilities")
    client.event("initialized")
    assert "only for a launched program" in client.refused(Code.UNSUPPORTED, command)
    client.hang_up()
    play.take(StopDiscovery)


def test_a_submitted_job_has_no_pid(play: Play) -> None:
    client, seq = launch(play, submit=True)
    play.feed(DebuggeeStarted("raysubmit_1", 0))
    client.answer(seq)
    assert client.event("process") == {"name": "raysubmit_1", "isLocalProcess": False, "startMethod": "launch"}


def test_a_program_that_cannot_start_fails_the_launch(play: Play) -> None:
    client, seq = launch(play)
    play.feed(DebuggeeFailed(Problem(Code.LAUNCH_FAILED, "There is no train.py.")))
    assert "no train.py" in client.refusal(Code.LAUNCH_FAILED, seq)
    play.warned("no train.py")
    play.take(StopDebuggee)
    play.take(StopDiscovery)


def test_a_launch_that_is_left_before_it_began_starts_and_stops_nothing(play: Play) -> None:
    client = play.client()
    client.send("launch", program="train.py")
    client.event("capabilities")
    client.event("initialized")
    client.hang_up()
    play.take(StopDiscovery)


def test_an_observer_whose_first_attach_failed_can_launch(play: Play) -> None:
    client = play.client()
    attach = client.send("attach", role="observer")
    play.take(StartDiscovery)
    play.feed(DiscoveryFailed(Problem(Code.DASHBOARD_UNREACHABLE, "Nobody there.")))
    client.refusal(Code.DASHBOARD_UNREACHABLE, attach)
    play.warned("Nobody there.")
    play.take(StopDiscovery)
    client.send("launch", program="train.py")
    client.event("capabilities"), client.event("initialized")
    client.leave()
    play.take(StopDiscovery)
