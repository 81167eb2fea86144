"""What a coding agent finds out in a session with many workers, in how many calls and bytes (docs/usage/agents.md)."""

import asyncio
import json

import pytest

from raydap.mcp_server.tool_calls import ToolCalls
from raydap.protocol.types import WorkerKey
from support.grounded_agent import Call, GroundedAgent
from support.simulated_session import Trainers, simulated
from support.waiting_workers import stacks, thread

SIZES = [8, 64, 1000]

NAN = {"type": "float", "text": "nan", "hash": "nan"}
STEP = {"type": "int", "text": "1200", "hash": "1200"}
SMALL = {"type": "float", "text": "0.25", "hash": "0.25"}


def caller(tools: ToolCalls) -> Call:
    async def call(name: str, arguments: dict[str, object]) -> str:
        answer = await tools.call(name, arguments)
        assert not answer.is_error, answer.text
        return answer.text

    return call


@pytest.mark.parametrize("count", SIZES)
def test_a_hang_in_which_one_trainer_is_late(count: int) -> None:
    async def policy(tools: ToolCalls) -> None:
        agent = GroundedAgent(caller(tools), "hang", f"The {count} trainers make no progress. Which one is to blame?")
        text = await agent.call("hang")
        assert "Trainer 5 (pid 106 on 10.0.0.1): blocked in time.sleep (train.py:9)" in text
        assert f"Trainer{{0-4,6-{count - 1}}}: blocked in all_reduce (train.py:14)" in text
        text = await agent.call("look", worker="Trainer 5")
        assert "load" in text
        assert "train.py" in text
        agent.within_budget()

    with simulated(count) as session:
        session.trainers[5].blocked = stacks(thread("load", 9, "time.sleep"))
        session.ask(policy)


@pytest.mark.parametrize("count", SIZES)
def test_the_step_at_which_a_loss_is_no_number(count: int) -> None:
    with simulated(count) as session:

        async def policy(tools: ToolCalls) -> None:
            prompt = "The loss becomes NaN in some trainer. Stop at /app/train.py:14 where loss != loss: which step?"
            agent = GroundedAgent(caller(tools), "nan", prompt)
            text = await agent.call("breakpoint", at="/app/train.py:14", condition="loss != loss")
            assert f"set in {count:,} workers" in text
            waiting = asyncio.ensure_future(agent.call("wait"))
            await asyncio.sleep(0)  # The call begins.
            stop_at_breakpoint(session, 5)
            assert "1 Trainer 5: /app/train.py:14 in step, breakpoint" in await waiting
            text = await agent.call("values", expressions=["loss", "step"], set="Trainer 5")
            assert "nan" in text
            assert "1200" in text
            await agent.call("breakpoint", remove=True)
            await agent.call("go", action="continue", wait=0)
            agent.within_budget()

        session.trainers[5].values = {"loss": NAN, "step": STEP}
        session.ask(policy)
        assert not session.play.bridge.state.stopped


def stop_at_breakpoint(session: Trainers, rank: int) -> None:
    found = next(each for each in session.play.bridge.state.run.breakpoints.all() if each.spec["line"] == 14)
    (answer,) = found.answers[WorkerKey(f"w{rank}")].values()
    session.trainers[rank].line = 14
    session.trainers[rank].stop(hitBreakpointIds=[answer["id"]])


@pytest.mark.parametrize("count", SIZES)
def test_values_of_running_trainers_share_lines(count: int) -> None:
    async def policy(tools: ToolCalls) -> None:
        agent = GroundedAgent(caller(tools), "nan", "Is the loss of each trainer a number?")
        text = await agent.call("values", expressions=["loss"])
        assert "nan" in text
        assert "Trainer 5" in text
        agent.within_budget()

    with simulated(count) as session:
        for number, trainer in enumerate(session.trainers):
            summary = {**(NAN if number == 5 else SMALL), "places": "p", "whole": True}
            trainer.running_value = json.dumps({"result": repr(json.dumps(summary)), "type": "str"})
        session.ask(policy)


@pytest.mark.parametrize("count", SIZES)
def test_an_exception_in_an_actor(count: int) -> None:
    async def policy(tools: ToolCalls) -> None:
        agent = GroundedAgent(caller(tools), "exception", "One trainer raises an exception. Why?")
        text = await agent.call("wait", seconds=5)
        assert "1 Trainer 5: ValueError" in text
        text = await agent.call("look")
        assert "Trainer 5, stopped at the exception ValueError" in text
        agent.within_budget()

    with simulated(count) as session:
        session.trainers[5].stop(reason="exception", text="ValueError", description="x")
        session.ask(policy)


def test_a_lost_answer_costs_no_stop() -> None:
    async def policy(tools: ToolCalls) -> None:
        call = caller(tools)
        await call("status", {})
        first = await call("wait", {"seconds": 5})
        again = await call("wait", {"seconds": 5})
        assert first == again
        assert "2 Trainer{3,5}" in first

    with simulated(8) as session:
        for rank in (3, 5):
            session.trainers[rank].stop()
        session.ask(policy)


def test_the_end_removes_only_what_the_agent_has_set_and_resumes_only_its_stops() -> None:
    async def policy(tools: ToolCalls) -> None:
        call = caller(tools)
        await call("breakpoint", {"at": "/app/train.py:14"})
        stop_at_breakpoint(session, 5)
        await call("wait", {"set": "Trainer 5"})
        await call("go", {"action": "pause", "set": "Trainer 6", "wait": 0})
        session.trainers[6].stop(reason="pause")
        await call("wait", {"set": "Trainer 6"})
        text = (await tools.call("breakpoint", {"at": "/app/eval.py:7", "remove": True})).text
        assert "/app/eval.py:7 was not set by you, and stays." in text
        # Its own breakpoint there would replace the user's, and its end would remove that.
        for condition in ("", "loss > 1"):
            answer = await tools.call("breakpoint", {"at": "/app/eval.py:7", "condition": condition})
            assert answer.is_error
            assert "has a breakpoint that was not set by you" in answer.text
        assert "if loss > 2" in await call("breakpoint", {"at": "/app/eval.py:8", "condition": "loss > 2"})
        assert "if loss > 3" in await call("breakpoint", {"at": "/app/eval.py:8", "condition": "loss > 3"})
        assert "2 breakpoints" not in (await call("end", {}))

    with simulated(8) as session:
        source = {"path": "/app/eval.py"}
        session.editor.request("setBreakpoints", source=source, breakpoints=[{"line": 7}])
        session.trainers[3].stop()
        session.ask(policy)
        left = {each.source["path"] for each in session.play.bridge.state.run.breakpoints.all() if each.source}
        assert left == {"/app/eval.py"}
        assert {thread.worker.key for thread in session.play.bridge.state.stopped.values()} == {"w3"}


def test_a_barrier_holds_trainers_and_its_removal_releases_them() -> None:
    async def policy(tools: ToolCalls) -> None:
        call = caller(tools)
        text = await call("breakpoint", {"at": "/app/train.py:14", "barrier": "3"})
        assert "breakpoint /app/train.py:14 barrier all 3: set in 8 workers" in text
        stop_at_breakpoint(session, 5)
        assert (await call("status", {})).startswith("0 stopped, 1 held at a barrier, 7 running")
        for rank in (6, 7):
            stop_at_breakpoint(session, rank)
        assert "3 Trainer{5-7}: /app/train.py:14 in step" in await call("wait", {})
        await call("breakpoint", {"remove": True})
        assert "3 resumed" in await call("go", {"action": "continue", "wait": 0})

    with simulated(8) as session:
        session.ask(policy)


def test_steps_of_a_set_and_until_lines_differ() -> None:
    async def policy(tools: ToolCalls) -> None:
        call = caller(tools)
        for trainer in session.trainers[:4]:
            trainer.stop()
        await call("wait", {"until": "all", "set": "Trainer 0-3"})
        stepping = asyncio.ensure_future(call("go", {"action": "next", "set": "Trainer 0-3", "wait": 5}))
        await session.tick(until=lambda: not session.play.bridge.state.stopped)
        for trainer in session.trainers[:4]:
            trainer.line = 8
            trainer.stop(reason="step")
        assert "4 Trainer{0-3}: train.py:8 in step, step" in (await stepping).replace("/app/", "")
        await call("go", {"action": "continue", "wait": 0})

    with simulated(8) as session:
        session.ask(policy)
