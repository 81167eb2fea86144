"""Watchpoints of a DAP client and of the debug console, with real debugpy behind the bridge."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from dap_client import Client

from support.debuggee import Debuggee
from support.look import bodies, frames, go_on, line_of, variables

TRAINING = """\
class Model:
    def __init__(self):
        self.scale = 1.0

def train(model, batches):
    loss = 0.0
    for step, batch in enumerate(batches):
        loss = batch * model.scale  # loss
        update(model, step)  # update
        done = step  # next
    return loss

def update(model, step):
    if step == 2:
        model.scale = float("nan")

breakpoint()
print("loss", train(Model(), [1.0, 1.0, 2.0, 3.0, 4.0]), flush=True)
"""


@pytest.fixture
def attached(
    client: Client, plain_debugpy: Callable[[str], Debuggee]
) -> Callable[..., tuple[Debuggee, dict[str, Any]]]:
    """Return a function that attaches to the program, and returns it with its stop in `train`."""

    def attach(line: str = "loss = 0.0") -> tuple[Debuggee, dict[str, Any]]:
        debuggee = plain_debugpy(TRAINING)
        client.request("initialize", adapterID="raydap")
        asked = client.send("attach", workers=[f"{debuggee.host}:{debuggee.port}"])
        client.wait_event("initialized")
        source = {"path": str(debuggee.path)}
        specs = [{"line": line_of(TRAINING, line)}]
        client.request("setBreakpoints", source=source, breakpoints=specs)
        client.request("configurationDone")
        client.result(asked)
        go_on(client, client.wait_event("stopped"))
        stop = client.wait_event("stopped")
        client.request("setBreakpoints", source=source, breakpoints=[])
        return debuggee, stop

    return attach


def said(client: Client, stop: dict[str, Any], text: str) -> str:
    frame = frames(client, stop)[0]["id"]
    result: str = client.request("evaluate", expression=text, frameId=frame, context="repl")["result"]
    return result


def test_a_variable_of_the_variables_view(client: Client, attached: Callable[..., Any]) -> None:
    debuggee, stop = attached()
    (scope, *_) = client.request("scopes", frameId=frames(client, stop)[0]["id"])["scopes"]
    local = {
        each["name"]: each
        for each in client.request("variables", variablesReference=scope["variablesReference"])["variables"]
    }
    reference = local["model"]["variablesReference"]
    client.request("variables", variablesReference=reference)
    info = client.request("dataBreakpointInfo", variablesReference=reference, name="scale")
    assert (
        info["description"] == f"model.scale in train (debuggee.py:{line_of(TRAINING, 'loss = 0.0')})" or info["dataId"]
    )
    wanted = [{"dataId": info["dataId"], "accessType": "write"}]
    (answer,) = client.request("setDataBreakpoints", breakpoints=wanted)["breakpoints"]
    client.wait_event("breakpoint", lambda body: body["breakpoint"]["verified"])
    go_on(client, stop)
    stop = client.wait_event("stopped")
    assert (stop["reason"], stop["hitBreakpointIds"]) == ("data breakpoint", [answer["id"]])
    assert frames(client, stop)[0]["line"] == line_of(TRAINING, "# next")
    assert stop["text"] == f"model.scale: 1.0 -> nan, after line {line_of(TRAINING, '# update')} of train (step 2)"
    assert variables(client, frames(client, stop)[0])["step"] == "2"
    client.request("setDataBreakpoints", breakpoints=[])
    go_on(client, stop)
    assert debuggee.child.wait() == 0


def test_a_comparison_of_the_console(client: Client, attached: Callable[..., Any]) -> None:
    debuggee, stop = attached()
    answer = said(client, stop, "/watch loss != loss")
    assert "Watches loss != loss in train" in answer
    assert "in 1 worker. The function is running in 1 of them now." in answer
    go_on(client, stop)
    stop = client.wait_event("stopped")
    assert stop["text"] == f"loss != loss is true, after line {line_of(TRAINING, '# loss')} of train (step 3)"
    assert frames(client, stop)[0]["line"] == line_of(TRAINING, "# update")
    client.request("next", threadId=stop["threadId"])
    stop = client.wait_event("stopped")
    assert (stop["reason"], frames(client, stop)[0]["line"]) == ("step", line_of(TRAINING, "# next"))
    assert said(client, stop, "/unwatch").startswith("Removed ")
    go_on(client, stop)
    assert debuggee.child.wait() == 0


def test_a_log_of_the_console(client: Client, attached: Callable[..., Any]) -> None:
    debuggee, stop = attached()
    said(client, stop, "/watch --log loss")
    go_on(client, stop)
    assert debuggee.child.wait() == 0
    printed = [body["output"] for body in bodies(client, "output") if " -> " in body["output"]]
    assert [text.split("] ", 1)[1].split(",")[0] for text in printed] == [
        "loss: 0.0 -> 1.0",
        "loss: 1.0 -> 2.0",
        "loss: 2.0 -> nan",
    ]


def test_a_detach_leaves_no_watchpoint(client: Client, attached: Callable[..., Any]) -> None:
    debuggee, stop = attached()
    said(client, stop, "/watch loss")
    client.request("disconnect")
    assert debuggee.child.wait() == 0
    assert "loss nan" in debuggee.child.output


def test_a_program_does_not_run_before_it_has_its_watchpoints(
    client: Client, plain_debugpy: Callable[[str], Debuggee]
) -> None:
    debuggee = plain_debugpy(TRAINING.replace("breakpoint()\n", ""))
    client.request("initialize", adapterID="raydap")
    asked = client.send("attach", workers=[f"{debuggee.host}:{debuggee.port}"])
    client.wait_event("initialized")
    data = json.dumps(["loss != loss", str(debuggee.path), line_of(TRAINING, "# loss"), ""])
    client.request("setDataBreakpoints", breakpoints=[{"dataId": data}])
    client.request("configurationDone")
    client.result(asked)
    stop = client.wait_event("stopped")
    assert stop["reason"] == "data breakpoint"
    go_on(client, stop)
    assert debuggee.child.wait() == 0
