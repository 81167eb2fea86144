"""Features of a direct debugpy session that a merged one has too: values, targets, sources, modules, cancel."""

import os
import signal
import socket
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from dap_client import Client, RequestFailed

from support.debuggee import Debuggee
from support.look import bodies, evaluate, frames, go_on, line_of, problems

PROGRAM = """\
class Point:
    x = 1

def inner(number):
    return number + 1

def outer(number):
    return 2 * number

def work(point, items):
    total = outer(inner(0))
    total += point.x
    total += 1000
    return total + sum(items)

print("result: " + str(work(Point(), [1, 2, 3])), flush=True)
"""


class At:
    """A session stopped at a line of a program, with what an editor requests there. `scope` are the locals."""

    def __init__(self, client: Client, debuggee: Debuggee) -> None:
        self.client = client
        self.debuggee = debuggee
        self.look(client.wait_event("stopped"))

    def look(self, stop: dict[str, Any]) -> None:
        self.stop = stop
        self.thread = stop["threadId"]
        self.stack = frames(self.client, stop)
        self.frame = self.stack[0]["id"]
        self.scope = self.client.request("scopes", frameId=self.frame)["scopes"][0]["variablesReference"]

    def variable(self, name: str, scope: int | None = None) -> dict[str, Any]:
        listed = self.client.request("variables", variablesReference=self.scope if scope is None else scope)
        found: dict[str, Any]
        (found,) = (variable for variable in listed["variables"] if variable["name"] == name)
        return found

    def end(self) -> str:
        """Let the program run to its end, and return its output."""
        go_on(self.client, self.stop)
        assert self.debuggee.child.wait() == 0
        return self.debuggee.child.output


@pytest.fixture
def stop_at(client: Client, plain_debugpy: Callable[[str], Debuggee]) -> Callable[..., At]:
    """Return `stop_at(program, text)`, which stops at the only line with this text, or else at `breakpoint()`."""

    def stop(program: str, text: str | None = None, **arguments: Any) -> At:
        debuggee = plain_debugpy(program)
        lines = {} if text is None else {str(debuggee.path): [line_of(program, text)]}
        arguments = {"workers": [f"{debuggee.host}:{debuggee.port}"], **arguments}
        client.start_session("attach", arguments, breakpoints=lines)
        return At(client, debuggee)

    return stop


def test_variables_are_set_at_any_depth(client: Client, stop_at: Callable[..., At]) -> None:
    at = stop_at(PROGRAM, "total += point.x")
    answer = client.request("setVariable", variablesReference=at.scope, name="total", value="30 + 4")
    assert (answer["value"], answer["type"]) == ("34", "int")
    items = at.variable("items")["variablesReference"]
    client.request("setVariable", variablesReference=items, name="2", value="3000000")
    assert at.variable("items")["value"] == "[1, 2, 3000000]"
    replaced = client.request("setVariable", variablesReference=at.scope, name="items", value="[[7], 8]")
    inside = at.variable("0", replaced["variablesReference"])
    assert at.variable("0", inside["variablesReference"])["value"] == "7"
    # If debugpy cannot evaluate the new value, it returns the old one.
    answer = client.request("setVariable", variablesReference=at.scope, name="total", value="nothing_of_the_kind")
    assert answer["value"] == "34"
    client.request("setVariable", variablesReference=at.scope, name="items", value="[5]")
    assert "result: 1040" in at.end()


def test_expressions_are_set(client: Client, stop_at: Callable[..., At]) -> None:
    at = stop_at(PROGRAM, "total += point.x")
    answer = client.request("setExpression", expression="point.x", value="50", frameId=at.frame)
    assert answer["value"] == "50"
    client.request("setExpression", expression="items[0]", value="200", frameId=at.frame)
    assert evaluate(client, at.stop, "(point.x, items)") == "(50, [200, 2, 3])"
    assert "result: 1257" in at.end()


def test_completions(client: Client, stop_at: Callable[..., At]) -> None:
    at = stop_at(PROGRAM, "total += point.x")
    labels = {
        target["label"] for target in client.request("completions", text="po", column=3, frameId=at.frame)["targets"]
    }
    assert {"point", "pow"} <= labels
    targets = client.request("completions", text="x = point.", column=11, frameId=at.frame)["targets"]
    assert "x" in {target["label"] for target in targets}
    at.end()


def test_a_step_into_the_call_chosen(client: Client, stop_at: Callable[..., At]) -> None:
    at = stop_at(PROGRAM, "total = outer(inner(0))")
    # In Python 3.10, the labels have only the names of the functions.
    offered = client.request("stepInTargets", frameId=at.frame)["targets"]
    targets = {target["label"].partition("(")[0]: target["id"] for target in offered}
    assert {"inner", "outer"} <= set(targets)
    client.request("stepIn", threadId=at.thread, targetId=targets["outer"])
    at.look(client.wait_event("stopped"))
    assert at.stack[0]["name"] == "outer"
    assert at.variable("number")["value"] == "1"
    with pytest.raises(RequestFailed, match="1006"):
        client.request("stepIn", threadId=at.thread, targetId=targets["inner"])
    assert "result: 1009" in at.end()


def test_a_jump_skips_the_lines_between(client: Client, stop_at: Callable[..., At]) -> None:
    at = stop_at(PROGRAM, "total += point.x")
    source = {"path": str(at.debuggee.path)}
    line = line_of(PROGRAM, "return total")
    (target,) = client.request("gotoTargets", source=source, line=line)["targets"]
    client.request("goto", threadId=at.thread, targetId=target["id"])
    at.look(client.wait_event("stopped"))
    assert (at.stop["reason"], at.stack[0]["line"]) == ("goto", line)
    assert "result: 8" in at.end()


CELL = """\
import linecache

cell = "x = 20\\nbreakpoint()\\nx += 1\\nprint('cell:', x)\\n"
linecache.cache["<cell 1>"] = (len(cell), None, cell.splitlines(True), "<cell 1>")
exec(compile(cell, "<cell 1>", "exec"))
"""


def test_code_without_a_file_is_fetched_from_its_worker(client: Client, stop_at: Callable[..., At]) -> None:
    at = stop_at(CELL, justMyCode=False)
    source = at.stack[0]["source"]
    reference = source["sourceReference"]
    assert reference >= 1000
    cell = "x = 20\nbreakpoint()\nx += 1\nprint('cell:', x)\n"
    answer = client.request("source", sourceReference=reference, source=source)
    assert answer["content"] == cell
    assert source["path"] not in {each["path"] for each in client.request("loadedSources")["sources"]}
    assert "cell: 21" in at.end()


PICKLED = """\
code = "def add(number):\\n    breakpoint()\\n    return number + 1\\n"
exec(compile(code, "/no/such/driver.py", "exec"))
print("result: " + str(add(20)))
"""


def test_of_a_file_that_the_worker_does_not_have_there_is_no_source(client: Client, stop_at: Callable[..., At]) -> None:
    at = stop_at(PICKLED, justMyCode=False)
    source = at.stack[0]["source"]
    assert source["path"] == "/no/such/driver.py"
    with pytest.raises(RequestFailed, match="no file that the worker can read"):
        client.request("source", sourceReference=source["sourceReference"], source=source)
    assert "result: 21" in at.end()


def test_modules_and_sources(client: Client, stop_at: Callable[..., At]) -> None:
    at = stop_at(PROGRAM, "total += point.x")
    path = str(at.debuggee.path)
    listed = client.request("modules")["modules"]
    (main,) = (module for module in listed if module.get("path") == path)
    assert main["id"] >= 1000
    assert main["id"] in [body["module"]["id"] for body in bodies(client, "module")]
    assert {"name": at.debuggee.path.name, "path": path} in client.request("loadedSources")["sources"]
    at.end()


def test_breakpoints_can_be_where_there_is_code(client: Client, stop_at: Callable[..., At]) -> None:
    at = stop_at(PROGRAM, "total += point.x")
    everything: dict[str, Any] = {"source": {"path": str(at.debuggee.path)}, "line": 1, "endLine": 99}
    lines = [place["line"] for place in client.request("breakpointLocations", **everything)["breakpoints"]]
    code = [number for number, line in enumerate(PROGRAM.splitlines(), start=1) if line]
    assert lines == code
    answer = client.request("breakpointLocations", source=everything["source"], line=code[4])
    assert answer == {"breakpoints": [{"line": code[4]}]}
    for path in ("/no/such/file.py", "/", str(at.debuggee.path.with_suffix(".log"))):
        assert client.request("breakpointLocations", source={"path": path}, line=1) == {"breakpoints": []}
    at.end()


def test_an_evaluation_that_hangs_can_be_cancelled(client: Client, stop_at: Callable[..., At], tmp_path: Path) -> None:
    at = stop_at(PROGRAM, "total += point.x")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    hanging = client.send("evaluate", expression=f"open({str(pipe)!r}).read()", frameId=at.frame)
    seq = client._seq
    client.request("cancel", requestId=seq)
    with pytest.raises(RequestFailed, match="cancelled"):
        client.result(hanging)
    pipe.write_text("late")
    # The worker answers in order, so it has answered the cancelled request before this one.
    assert evaluate(client, at.stop, "total") == "2"
    answers = [message for message in client.received if message.get("request_seq") == seq]
    assert [answer["success"] for answer in answers] == [False]
    at.end()


def test_the_output_of_a_logpoint_names_its_worker(client: Client, plain_debugpy: Callable[[str], Debuggee]) -> None:
    debuggee = plain_debugpy(PROGRAM)
    source = {"path": str(debuggee.path)}
    logpoint = {"line": line_of(PROGRAM, "total += point.x"), "logMessage": "total is {total}"}
    client.request("initialize", adapterID="raydap")
    attach = client.send("attach", workers=[f"{debuggee.host}:{debuggee.port}"])
    client.wait_event("initialized")
    client.request("setBreakpoints", source=source, breakpoints=[logpoint])
    client.request("configurationDone")
    client.result(attach)
    said = client.wait_event("output", lambda body: "total is" in body["output"])["output"]
    assert said.rstrip() == f"[worker {debuggee.child.pid}] total is 2"
    assert debuggee.child.wait() == 0


LAUNCHED = """\
import signal, sys
print("launched with " + sys.argv[1], flush=True)
signal.pause()
"""


@pytest.fixture
def launched(client: Client, tmp_path: Path, children: ExitStack) -> dict[str, Any]:
    """Launch a program that runs until the test ends it; return the arguments."""
    nowhere = children.enter_context(socket.socket())
    nowhere.bind(("127.0.0.1", 0))
    program = tmp_path / "launched.py"
    program.write_text(LAUNCHED)
    dashboard = f"http://127.0.0.1:{nowhere.getsockname()[1]}"
    arguments = {"program": str(program), "args": ["first"], "dashboard": dashboard}
    client.start_session("launch", arguments)
    offered = client.wait_event("capabilities")["capabilities"]
    assert offered == {"supportsTerminateRequest": True, "supportsRestartRequest": True}
    return arguments


def process(client: Client) -> Path:
    """Wait for the next `process` event, and return the folder of the process in /proc."""
    return Path("/proc", str(client.wait_event("process")["systemProcessId"]))


def test_a_launched_program_is_terminated(client: Client, launched: dict[str, Any]) -> None:
    program = process(client)
    client.request("terminate")
    assert client.wait_event("exited") == {"exitCode": 128 + signal.SIGTERM}
    client.wait_event("terminated")
    assert not program.exists()


def test_a_launched_program_is_restarted_also_with_other_arguments(client: Client, launched: dict[str, Any]) -> None:
    def launched_with(argument: str) -> Path:
        client.wait_event("output", lambda body: f"launched with {argument}" in body["output"])
        return process(client)

    first = launched_with("first")
    client.request("restart")
    second = launched_with("first")
    client.request("restart", arguments={**launched, "args": ["other"]})
    other = launched_with("other")
    assert len({first, second, other}) == 3
    client.request("terminate")
    client.wait_event("exited")
    client.wait_event("terminated")
    # The ends of the earlier programs were not reported.
    assert [event["event"] for event in client.events].count("exited") == 1
    assert not any(program.exists() for program in (first, second, other))


def test_a_restart_that_fails_is_reported_and_ends_the_session(client: Client, launched: dict[str, Any]) -> None:
    program = process(client)
    with pytest.raises(RequestFailed, match='"programm"'):
        client.request("restart", arguments={"programm": "x.py"})
    assert program.exists()
    client.request("restart", arguments={**launched, "program": "missing.py"})
    client.wait_event("terminated")
    assert "missing.py" in problems(client)[-1]


@pytest.mark.parametrize("command", ["terminate", "restart"])
def test_nothing_is_ended_that_was_not_launched(client: Client, stop_at: Callable[..., At], command: str) -> None:
    at = stop_at(PROGRAM, "total += point.x")
    with pytest.raises(RequestFailed, match="1002"):
        client.request(command)
    assert "result: 1009" in at.end()


def test_a_jump_to_an_invalid_line_does_not_move_the_thread(client: Client, stop_at: Callable[..., At]) -> None:
    at = stop_at(PROGRAM, "total += point.x")
    source = {"path": str(at.debuggee.path)}
    for wrong in (None, "x", 0):
        with pytest.raises(RequestFailed, match='"line" must be the number of a line'):
            client.request("gotoTargets", source=source, line=wrong)
    (target,) = client.request("gotoTargets", source=source, line=9999)["targets"]
    with pytest.raises(RequestFailed, match="after the current code block"):
        client.request("goto", threadId=at.thread, targetId=target["id"])
    assert "result: 1009" in at.end()
