"""`raydap mcp` on a real cluster: the scenarios of coding agents, and what remains of a job after them."""

import asyncio
import os
import signal
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from dap_client import Client
from local_cluster import Child, Cluster

from support.grounded_agent import GroundedAgent
from support.look import line_of
from support.mcp_client import PATIENCE_S, McpClient

PROGRAM = """\
import ray

@ray.remote(num_cpus=0.1)
class Trainer:
    def __init__(self, rank):
        self.rank = rank

    def step(self, number):
        loss = 1 / (number + 1)
        if self.rank == 3 and number >= 20:
            loss = float("nan")
        if number == 30:
            raise ValueError(f"loss is {loss}")
        return loss  # result

ray.init()
trainers = [Trainer.remote(rank) for rank in range(4)]
for number in range(40):
    refs = trainers[0].step.remote(number), *[trainer.step.remote(number) for trainer in trainers[1:]]
    ray.get(list(refs))
"""

HANGS = """\
import os, sys, threading
import ray

def all_ready(event, rank):
    open(f"{event}{rank}", "w").close()
    while not os.path.exists(event):  # waits
        threading.Event().wait(0.05)
    return rank

def load(event, rank):
    return all_ready(event, rank)  # is late

@ray.remote(num_cpus=0.1)
class Trainer:
    def step(self, event, rank):
        return (load if rank == 2 else all_ready)(event, rank)

# A comment, where no debugger can stop.
ray.init()
trainers = [Trainer.remote() for _ in range(4)]
refs = [trainer.step.remote(sys.argv[1], rank) for rank, trainer in enumerate(trainers)]
while not all(os.path.exists(f"{sys.argv[1]}{rank}") for rank in range(4)):
    threading.Event().wait(0.02)
print(f"begun in {os.getpid()}", flush=True)
print(f"result: {ray.get(refs)}")
"""

WAITS, LATE = line_of(HANGS, "# waits"), line_of(HANGS, "# is late")


class Model:
    """A GroundedAgent that calls the tools of a process."""

    def __init__(self, client: McpClient, scenario: str, prompt: str, *sources: str) -> None:
        async def call(tool: str, arguments: dict[str, Any]) -> str:
            return client.answer(client.begin(tool, **arguments))[0]

        self._agent = GroundedAgent(call, scenario, prompt, *sources)

    def call(self, tool: str, **arguments: Any) -> str:
        return asyncio.run(self._agent.call(tool, **arguments))

    def within_budget(self) -> None:
        self._agent.within_budget()


@pytest.fixture
def agent(tmp_path: Path, cluster: Cluster, children: ExitStack) -> Callable[..., McpClient]:
    environment = {"RAY_ADDRESS": cluster.address}
    return lambda **env: children.enter_context(McpClient(tmp_path, env={**environment, **env}))


@pytest.fixture
def job(tmp_path: Path, run_driver: Callable[..., Child]) -> Child:
    """Return a program whose actors wait, the third of them in another function."""
    (tmp_path / "train.py").write_text(HANGS)
    child = run_driver(tmp_path / "train.py", str(tmp_path / "end"))
    child.wait_for("begun in")
    return child


def test_a_loss_that_is_no_number_and_an_exception(agent: Callable[..., McpClient], tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PROGRAM)
    client = agent()
    place = f"train.py:{line_of(PROGRAM, '# result')}"
    prompt = f"The loss at {place} becomes NaN: in which worker, at which number? Then it fails: why?"
    call = line_of(PROGRAM, "refs =")
    text = client.call("start", program="train.py", breakpoints=[f"train.py:{call}"], wait=45)
    assert f"1 driver train.py: train.py:{call} in <module>, breakpoint" in text
    client.call("breakpoint", remove=True)
    text = client.call("go", action="step", wait=45)
    assert f"1 Trainer 0: train.py:{line_of(PROGRAM, 'loss = 1')} in step, step" in text
    assert f"1 driver train.py: train.py:{call + 1} in <module>, step" in client.call("go", action="out", wait=45)
    assert "train.py is terminated." in client.call("end", how="terminate")
    model = Model(client, "nan", prompt, PROGRAM)
    text = model.call("start", program="train.py", breakpoints=[f"{place} if loss != loss"], wait=45)
    assert "1 stopped" in text
    assert f"1 Trainer 3: {place} in step, breakpoint" in text
    text = model.call("look", worker="Trainer 3")
    assert "loss = nan\n" in text
    assert "number = 20\n" in text
    text = model.call("values", expressions=["self.rank"], set="Trainer 3")
    assert "3  1  Trainer 3" in text
    model.call("breakpoint", remove=True)
    model.within_budget()
    model = Model(client, "exception", prompt, PROGRAM)
    text = model.call("go", action="continue", wait=45)
    assert "ValueError" in text
    text = model.call("look")
    assert "stopped at the exception ValueError: loss is" in text
    model.within_budget()
    assert "train.py is terminated." in client.call("end", how="terminate")


def test_a_job_that_hangs_and_breakpoints_that_are_not_hit(
    agent: Callable[..., McpClient], job: Child, tmp_path: Path
) -> None:
    client = agent()
    model = Model(client, "hang", "The job makes no progress.", HANGS)
    text = model.call("hang")
    assert "driver train.py" in text
    text = model.call("stacks")
    assert f"1 load (train.py:{LATE})" in text
    assert "Trainer 2" in text
    model.within_budget()
    model = Model(client, "not hit", f"Stop at train.py:{LATE}; it is not hit.", HANGS, "* begun")
    text = model.call("breakpoint", at=f"train.py:{LATE}")
    assert 'start(job="*")' in text, "nothing is debugged yet"
    text = model.call("start", job="*", wait=0)
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / "train.py").write_text(HANGS)
    comment = line_of(HANGS, "# A comment")
    text = client.call("breakpoint", at=f"train.py:{comment}")
    assert f"Line {comment} of train.py has no code: debuggers stop at line {comment - 2} instead." in text
    text = client.call("breakpoint", at="copy/train.py:7")
    assert "The processes have imported another train.py: train.py." in text
    (tmp_path / "other.py").write_text(HANGS)
    assert "No process has imported other.py yet" in client.call("breakpoint", at="other.py:7")
    text = client.call("breakpoint", at=f"train.py:{WAITS}", condition="rank == 1")
    assert f"train.py:{WAITS} if rank == 1: set in " in text
    text = client.call("wait")
    assert f": train.py:{WAITS} in all_ready, breakpoint" in text
    assert "\nrank = 1\n" in client.call("look")
    (tmp_path / "end").touch()
    assert "breakpoints removed" in client.call("end")
    assert job.wait() == 0
    assert "result: [0, 1, 2, 3]" in job.output


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, "the end of the input"])
def test_a_job_goes_on_after_its_agent(
    agent: Callable[..., McpClient], job: Child, tmp_path: Path, how: "signal.Signals | str"
) -> None:
    client = agent()
    client.call("start", job="*", breakpoints=[f"train.py:{WAITS} if rank == 1"])
    assert "1 stopped" in client.call("wait")
    (tmp_path / "end").touch()
    if isinstance(how, str):
        client.close_input()
    else:
        client.process.send_signal(how)
    client.process.wait(PATIENCE_S)
    assert job.wait() == 0
    assert "result: [0, 1, 2, 3]" in job.output


def test_in_an_editors_session_the_editors_breakpoints_and_stops_stay(
    agent: Callable[..., McpClient], attach: Callable[..., Client], job: Child, tmp_path: Path
) -> None:
    editor = attach(reach="any")
    source = {"path": str(tmp_path / "train.py")}
    editor.request("setBreakpoints", source=source, breakpoints=[{"line": WAITS, "condition": "rank == 0"}])
    thread = editor.wait_event("stopped")["threadId"]
    client = agent(XDG_RUNTIME_DIR=os.environ["XDG_RUNTIME_DIR"])
    assert "1 stopped" in client.call("status")
    assert f"breakpoint train.py:{LATE}" in client.call("breakpoint", at=f"train.py:{LATE}")
    assert "(not yours)" in client.call("breakpoint")
    assert "was not set by you" in client.refused("breakpoint", at=f"train.py:{WAITS}", remove=True)
    client.call("end")
    assert editor.request("stackTrace", threadId=thread)["stackFrames"]
    listed = editor.request("raydap/breakpoints")["breakpoints"]
    assert [each["line"] for each in listed] == [WAITS]
    (tmp_path / "end").touch()
    editor.request("setBreakpoints", source=source, breakpoints=[])
    editor.request("continue", threadId=thread)
    assert job.wait() == 0
