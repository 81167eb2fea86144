"""The same script in debugpy directly and through the bridge, with the same answers except for intended differences.

Ids are replaced by their order of appearance. KNOWN has the intended differences, with their reasons.
"""

import copy
import json
import re
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from dap_client import Client, RequestFailed

from raydap.core.model.run import Run
from raydap.core.model.worker import Worker, WorkerContext
from raydap.core.process_info import ProcessInfo
from raydap.core.settings import AttachSettings
from raydap.core.translate.rewrite import Id, rewrite
from raydap.core.workers import attach as handshake
from raydap.protocol.id_fields import EVENTS, RESPONSES, Kind
from raydap.protocol.types import WorkerKey
from support.bridge import Bridge
from support.debuggee import Debuggee
from support.look import bodies, line_of

PROGRAM = """\
import sys

class Point:
    kind = "point"
    def __init__(self, x):
        self.x = x
        self._hidden = [x]

def double(number):
    result = 2 * number
    return result

def work(point, items):
    nested = {"list": [1, [2, 3]], "odd": "\\udc80", 7: None}
    total = double(point.x)
    total += 1
    print("total:", total, flush=True)
    try:
        items["missing"]
    except KeyError as error:
        total += len(str(error))
    return total

many = {f"key{number}": number for number in range(250)}
print("result: " + str(work(Point(20), many)), flush=True)
code = "breakpoint()\\ncell = 1\\ncell += 1\\n"
import linecache
linecache.cache["<cell>"] = (len(code), None, code.splitlines(True), "<cell>")
exec(compile(code, "<cell>", "exec"))
raise ValueError("at last")
"""

VARYING = re.compile(r"0x[0-9a-f]{6,}|debuggee\d+")
"""Texts that differ from process to process: addresses and the program's file."""

LABEL = re.compile(r"^\[worker \d+\] ")
"""The worker's name, with which the bridge begins its output."""

KNOWN = {
    "description": "a short one; debugpy sends what an exception says, or none, and editors then show a long one",
    "allThreadsStopped": "in a merged session, true would claim the threads of all other workers",
    "allThreadsContinued": "the same",
    "preserveFocusHint": "says whether the user looks at another worker",
}
"""Fields that differ on purpose, with the reason."""


class Script:
    """One session, step by step. `said` has the result of each step, with ids replaced."""

    def __init__(self, client: Client, debuggee: Debuggee) -> None:
        self.client = client
        self.debuggee = debuggee
        self.source = {"path": str(debuggee.path)}
        self.said: dict[str, Any] = {}
        self.thread = 0
        self.frame = 0
        self.stack: list[dict[str, Any]] = []
        self._masks: dict[tuple[Kind, Id], int] = {}

    def note(self, step: str, body: Any, type_name: str | None) -> None:
        assert step not in self.said, step
        body = copy.deepcopy(body)
        if type_name is not None:
            rewrite(body, type_name, self._mask)
        text = json.dumps({name: value for name, value in body.items() if name not in KNOWN})
        self.said[step] = json.loads(VARYING.sub("~", text))

    def _mask(self, kind: Kind, local: Id) -> Id:
        """Number the ids of a kind in the order of their appearance."""
        return self._masks.setdefault((kind, local), sum(known is kind for known, _ in self._masks))

    def ask(self, step: str, command: str, **arguments: Any) -> dict[str, Any]:
        """Send a request, and record the response or the failure. Return the original body."""
        try:
            body = self.client.request(command, **arguments)
        except RequestFailed as failure:
            self.note(step, {"failed": failure.text}, None)
            return {}
        self.note(step, body, RESPONSES.get(command))
        return body

    def stop(self, step: str) -> None:
        stopped = self.client.wait_event("stopped")
        # debugpy continues its count, and a merged session has new ids at each stop. So count from 0 again.
        self._masks = {key: mask for key, mask in self._masks.items() if key[0] in (Kind.THREAD, Kind.MODULE)}
        # debugpy omits the array where no breakpoint was hit.
        self.note(f"{step}: stopped", {"hitBreakpointIds": [], **stopped}, EVENTS["stopped"])
        self.thread = stopped["threadId"]
        self.stack = self.ask(f"{step}: stack", "stackTrace", threadId=self.thread)["stackFrames"]
        self.ask(f"{step}: top of stack", "stackTrace", threadId=self.thread, startFrame=0, levels=1)
        self.frame = self.stack[0]["id"]

    def breakpoints(self, step: str, command: str, **arguments: Any) -> None:
        """Set breakpoints, and record their verified state and lines.

        The bridge answers before any worker has verified them, and sends the result as events. Ids are left out,
        because the bridge considers a breakpoint that is set again to be the same.
        """
        settled = []
        for answer in self.client.request(command, **arguments)["breakpoints"]:
            while not answer["verified"]:
                event = self.client.wait_event("breakpoint")["breakpoint"]
                answer = event if event["id"] == answer["id"] else answer
            settled.append([answer["verified"], answer.get("line")])
        self.note(step, {"breakpoints": settled}, None)

    def open(self, step: str, reference: int, depth: int) -> None:
        """Record the variables within variables, down to a depth."""
        listed = self.ask(step, "variables", variablesReference=reference)["variables"]
        for variable in listed if depth else []:
            if variable["variablesReference"]:
                self.open(f"{step}.{variable['name']}", variable["variablesReference"], depth - 1)

    def play(self, last: str) -> dict[str, Any]:
        self.stop("first")
        logpoint = {"line": line_of(PROGRAM, "return total"), "logMessage": "total is {total}"}
        lines = [{"line": line_of(PROGRAM, "total = double")}, logpoint, {"line": 2}]
        self.breakpoints("breakpoints", "setBreakpoints", source=self.source, breakpoints=lines)
        self.breakpoints("function", "setFunctionBreakpoints", breakpoints=[{"name": "no_such_function"}])
        scopes = self.ask("scopes", "scopes", frameId=self.frame)["scopes"]
        self.open("locals", scopes[0]["variablesReference"], 2)
        self.ask("globals", "variables", variablesReference=scopes[1]["variablesReference"])
        self.values(scopes[0]["variablesReference"])
        self.expressions()
        for number, command in enumerate(("stepIn", "next", "stepOut", "next", "next")):
            step = f"step {number} {command}"
            self.ask(step, command, threadId=self.thread)
            self.stop(step)
        self.ask("jump: targets", "gotoTargets", source=self.source, line=line_of(PROGRAM, "return total"))
        modules = self.ask("modules", "modules")["modules"]
        assert modules
        self.ask("stop at what is raised", "setExceptionBreakpoints", filters=["raised"])
        self.ask("go on to the exception", "continue", threadId=self.thread)
        self.stop("raised")
        self.ask("exception", "exceptionInfo", threadId=self.thread)
        self.ask("stop at what is not caught", "setExceptionBreakpoints", filters=["uncaught"])
        self.ask("go on to the cell", "continue", threadId=self.thread)
        self.stop("cell")
        source = self.stack[0]["source"]
        self.ask("source of the cell", "source", sourceReference=source["sourceReference"], source=source)
        self.ask("go on to the end", "continue", threadId=self.thread)
        self.stop("uncaught")
        self.ask("last exception", "exceptionInfo", threadId=self.thread)
        self.ask("go on", "continue", threadId=self.thread)
        assert self.debuggee.child.wait() == 1
        # debugpy does not always report the exit of the last thread. The bridge does, and does not send `terminated`.
        self.client.wait_event(last, lambda body: body.get("reason", "exited") == "exited")
        output = [body["output"] for body in bodies(self.client, "output") if body.get("category") != "telemetry"]
        self.note("all modules", {"names": [body["module"]["name"] for body in bodies(self.client, "module")]}, None)
        self.note("all output", {"output": "".join(LABEL.sub("", text) for text in output)}, None)
        return self.said

    def values(self, scope: int) -> None:
        items = self.ask("items", "evaluate", expression="items", frameId=self.frame)
        page = {"variablesReference": items["variablesReference"], "start": 10, "count": 5}
        self.ask("a page", "variables", **page)
        self.ask("hexadecimal", "variables", variablesReference=scope, format={"hex": True})
        point = self.ask("point", "evaluate", expression="point", frameId=self.frame)
        self.open("special variables", point["variablesReference"], 1)
        self.ask("set", "setVariable", variablesReference=scope, name="point", value="Point(30)")
        self.ask("set nothing", "setVariable", variablesReference=scope, name="point", value="1 / 0")
        self.ask("set expression", "setExpression", expression="point.x", value="31", frameId=self.frame)
        self.ask("set no expression", "setExpression", expression="point.x", value="no_such_name", frameId=self.frame)

    def expressions(self) -> None:
        for context in ("repl", "watch", "hover", "clipboard", "variables"):
            for expression in ("point.x + 1", "nested['odd']", "1 / 0", "no_such_name", "x y", "[Point(1)]"):
                arguments = {"expression": expression, "frameId": self.frame, "context": context}
                self.ask(f"{context} {expression}", "evaluate", **arguments)
        self.ask("statement", "evaluate", expression="import os\nnew = 5", frameId=self.frame, context="repl")
        self.ask("output", "evaluate", expression="print('hello')", frameId=self.frame, context="repl")
        self.ask("its result", "evaluate", expression="new", frameId=self.frame, context="repl")
        self.ask("completions", "completions", text="point.", column=7, frameId=self.frame)
        self.ask("no completions", "completions", text="no_such_name.", column=14, frameId=self.frame)
        self.ask("step in targets", "stepInTargets", frameId=self.frame)


def directly(debuggee: Debuggee, children: ExitStack) -> Client:
    """Start debugpy's own session, with the arguments that the bridge sends."""
    row = ProcessInfo(WorkerKey("w"), debuggee.host, debuggee.port)
    context = WorkerContext(lambda effect: None)
    worker = Worker(context, Run(context.handles), row, AttachSettings(just_my_code=False))
    client = children.enter_context(Client.connect(debuggee.host, debuggee.port))
    begin(client, debuggee, handshake.attach_arguments(worker))
    return client


def begin(client: Client, debuggee: Debuggee, arguments: dict[str, Any]) -> None:
    lines = {str(debuggee.path): [line_of(PROGRAM, "total = double")]}
    client.start_session("attach", arguments, breakpoints=lines, filters=["uncaught"], **handshake.INITIALIZE)


def test_debugpy_and_the_bridge_answer_the_same(
    bridge: Bridge,
    plain_debugpy: Callable[[str], Debuggee],
    connect_to: Callable[[str, int], Client],
    children: ExitStack,
) -> None:
    debuggee = plain_debugpy(PROGRAM)
    direct = Script(directly(debuggee, children), debuggee).play(last="terminated")
    debuggee = plain_debugpy(PROGRAM)
    client = connect_to(bridge.host, bridge.port)
    begin(client, debuggee, {"workers": [f"{debuggee.host}:{debuggee.port}"], "justMyCode": False})
    merged = Script(client, debuggee).play(last="thread")
    assert list(merged) == list(direct)
    different = [step for step in direct if merged[step] != direct[step]]
    assert not different, "\n\n".join(f"{step}\n  {direct[step]}\n  {merged[step]}" for step in different)
