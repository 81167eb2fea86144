"""The stack of a task continues with the frames of its callers, up to the driver."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dap_client import Client, RequestFailed
from local_cluster import Cluster

from support.launched import ended, start, stopped_line
from support.look import go_on, variables

PROGRAM = """\
import asyncio
import ray

@ray.remote(num_cpus=0.1)
def inner(number):
    return number + 1  # inner

class Base:
    def __init__(self):
        self.ready = True  # creation

@ray.remote(num_cpus=0.1)
class Trainer(Base):
    def step(self, number):
        doubled = number * 2
        ref = inner.remote(doubled)  # nested call
        return ray.get(ref)

@ray.remote(num_cpus=0.1)
class Async:
    async def get(self, number):
        await asyncio.sleep(0)
        return await inner.remote(number)  # call in a coroutine

def train(trainer):
    label = "epoch"
    ref = trainer.step.remote(3)  # call
    print(label)
    return ray.get(ref)  # wait

if __name__ == "__main__":
    ray.init()
    trainer = Trainer.remote()  # create
    first = train(trainer)  # main
    actor = Async.remote()
    second = ray.get(actor.get.remote(1))  # async call
    print("result: " + str([first, second]))
"""

RESULT = "result: [7, 2]\n"


@pytest.fixture
def launch(client: Client, cluster: Cluster, tmp_path: Path) -> Callable[..., Client]:
    return lambda *texts, source=PROGRAM, **more: start(client, cluster, tmp_path, source, *texts, **more)


def shown(client: Client, stop: dict[str, Any], **more: Any) -> list[dict[str, Any]]:
    frames: list[dict[str, Any]] = client.request("stackTrace", threadId=stop["threadId"], **more)["stackFrames"]
    return [frame for frame in frames if "/ray/" not in str(frame.get("source", {}).get("path"))]


def texts(frames: list[dict[str, Any]]) -> list[str]:
    """Return each frame as the text of its line, and each label as its name."""
    lines = PROGRAM.splitlines()
    return [
        frame["name"] if frame.get("presentationHint") == "label" else lines[frame["line"] - 1].rpartition("# ")[2]
        for frame in frames
        if frame.get("presentationHint") == "label" or str(frame.get("source", {}).get("path")).endswith("program.py")
    ]


def of(frames: list[dict[str, Any]], function: str) -> dict[str, Any]:
    (frame,) = (frame for frame in frames if frame["name"] == function)
    return frame


@pytest.mark.core
def test_the_stack_of_a_nested_task_leads_through_its_callers_to_the_driver(launch: Callable[..., Client]) -> None:
    client = launch("# inner", "# wait")
    stops = [client.wait_event("stopped"), client.wait_event("stopped")]
    stop = next(each for each in stops if stopped_line(client, each).endswith("# inner"))
    frames = shown(client, stop)
    names = texts(frames)
    assert [name for name in names if "called by" not in name] == ["inner", "nested call", "call", "main"]
    assert [name.partition(" ")[0] for name in names if "called by" in name] == ["called", "called"]
    assert "driver" in names[3]
    assert {frame["presentationHint"] for frame in frames[1:]} == {"label", "subtle"}
    assert len({frame["id"] for frame in frames}) == len(frames)
    # The whole stack is also sent in parts.
    whole = client.request("stackTrace", threadId=stop["threadId"])
    parts = [
        client.request("stackTrace", threadId=stop["threadId"], startFrame=start, levels=2)
        for start in range(0, whole["totalFrames"], 2)
    ]
    assert [frame["id"] for part in parts for frame in part["stackFrames"]] == [
        frame["id"] for frame in whole["stackFrames"]
    ]
    assert {part["totalFrames"] for part in parts} == {whole["totalFrames"]} == {len(whole["stackFrames"])}

    # The actor runs: its values can be read, but nothing can be evaluated there.
    step = of(frames, "step")
    assert variables(client, step)["doubled"] == "6"
    with pytest.raises(RequestFailed, match="which runs; pause it"):
        client.request("evaluate", expression="doubled", frameId=step["id"])
    # The driver is stopped: the frame is that of its own stop.
    train = of(frames, "train")
    assert variables(client, train)["label"] == "'epoch'"
    assert client.request("evaluate", expression="label + '!'", frameId=train["id"])["result"] == "'epoch!'"
    for each in stops:
        go_on(client, each)
    go_on(client, client.wait_event("stopped"))  # The coroutine has called the same task.
    assert RESULT in ended(client)


def test_a_call_in_a_coroutine_and_the_creation_of_an_actor_have_their_callers(launch: Callable[..., Client]) -> None:
    client = launch("# inner", "# creation")
    stop = client.wait_event("stopped")
    assert [name for name in texts(shown(client, stop)) if "called" not in name] == ["creation", "create"]
    go_on(client, stop)
    stop = client.wait_event("stopped")
    # The function that has called it still runs, and its caller has returned by the time of the second call.
    go_on(client, stop)
    stop = client.wait_event("stopped")
    frames = shown(client, stop)
    found = [name for name in texts(frames) if "called" not in name]
    assert found == ["inner", "call in a coroutine", "async call"]
    assert variables(client, of(frames, "get"))["number"] == "1"
    go_on(client, stop)
    assert RESULT in ended(client)


def test_a_function_that_has_returned_has_no_variables(launch: Callable[..., Client]) -> None:
    source = PROGRAM.replace("return ray.get(ref)  # wait", "return ref").replace(
        "first = train(trainer)", "first = ray.get(train(trainer))"
    )
    client = launch("# inner", source=source)
    stop = client.wait_event("stopped")
    train = of(shown(client, stop), "train")
    assert client.request("scopes", frameId=train["id"])["scopes"] == []
    with pytest.raises(RequestFailed, match="has returned"):
        client.request("evaluate", expression="label", frameId=train["id"])
    main = of(shown(client, stop), "<module>")
    assert "trainer" in variables(client, main)
    go_on(client, stop)
    client.wait_event("stopped")
    with pytest.raises(RequestFailed, match="no longer valid"):
        client.request("scopes", frameId=main["id"])
