"""A scripted debugpy that sends what the real one sends, in the same order.

tests/golden/debugpy_session.jsonl is a recording of the real debugpy; tests/golden/test_golden.py compares them.
"""

import itertools
import json
import re
from collections.abc import Callable
from typing import Any

from raydap.core.events import Event, WorkerConnected, WorkerGone, WorkerMessage
from raydap.core.process_info import ProcessInfo, RayFacts
from raydap.inworker import calls, task_calls
from support.conformance import validate
from support.fake_answers import text_answer

PLUMBING = "/venv/ray/_private/workers/default_worker.py"

_CHANGES = [change(tuned) for change in (calls.enter, calls.leave) for tuned in (True, False)]


class FakeWorker:
    """A fake debugpy. Its threads, frames and variables have a field `origin`, which identifies them to clients.

    `hold` names what the worker holds back until `release`: "dial" (the connection), "initialized" (the event),
    "attach" (the response, which follows configurationDone), or any other command. `heard` are the requests that it has
    received.
    """

    def __init__(self, feed: Callable[[Event], None], row: ProcessInfo, facts: RayFacts | None) -> None:
        self.row = row
        self.key = row.key
        self.facts = facts
        self.path = "/app/train.py"
        self.source_reference = 0
        """The sourceReference of the innermost frame; not 0 for code without a file."""
        self.lines = "[7, 9]"
        """The answer to which lines can have breakpoints."""
        self.first_line = "[]"
        """The answer to which line of the program is the first after its docstring."""
        self.line = 7
        """The line where threads stop."""
        self.folder = ""
        """The current directory, or "" if the worker does not report it."""
        self.blocked: str = blocked()
        """The answer to which threads cannot pause (`blocked`)."""
        self.running_value: str = '{"result": "1", "type": "int"}'
        """The answer to an expression that is evaluated in running code."""
        self.reload: str = '{"loaded": true}'
        """The answer to new code for a file."""
        self.locals: Any = [{"name": "loss", "value": "0.5", "type": "float"}]
        """The local variables of each stopped frame."""
        self.steps = {".arm(": "armed", ".is_outermost(": "yes", ".stop_at(": "watched"}
        """The answers about steps across `.remote()`, by a part of the expression."""
        self.recorded: dict[str, Any] = {}
        """The calls that it has recorded, by the id of the task."""
        self.running_frames: dict[tuple[str, int], int] = {}
        """The ids of the frames of these calls that still run, by the id of the task and the number of the frame."""
        self.watchpoints: list[dict[str, Any]] = []
        """The watchpoints that the worker has now."""
        self.watch_answer: dict[str, Any] = {"verified": True, "message": "", "running": 1}
        """The answer about each watchpoint."""
        self.place: dict[str, Any] = {"expression": "loss", "path": "/app/train.py", "line": 7, "function": "step"}
        """The answer to where an expression is watched."""
        self.task = "ab" * 24
        """The id of the task that each thread runs."""
        self.collectives = ""
        """The answer to which library the worker uses for collectives."""
        self.rank = ""
        """The answer to which rank the worker has."""
        self.values: dict[str, dict[str, Any]] = {}
        """The summaries of the values of expressions (`summary`)."""
        self.copy = ""
        """The answer to which copy of a file the worker has."""
        self.module_copies: list[str] = []
        self.copies_answer = ""
        """The answer to the question for copies of files; if "", the answer is made of `copy` and `module_copies`."""
        self.hold: set[str] = set()
        self.heard: list[dict[str, Any]] = []
        self.said: list[dict[str, Any]] = []
        self.dials = 0
        # Any, not bool: after an assertion about a bool, mypy assumes the value for the rest of the test, despite
        # calls.
        self.connected: Any = False
        self.complete = False
        """Whether the attach is over."""
        self.stopped: dict[int, list[dict[str, Any]]] = {}
        self.started: set[int] = set()
        self._feed = feed
        self._held: list[tuple[str, Callable[[], None]]] = []
        self._seq = 0
        self._expected = 1
        # pydevd numbers frames and variables together, from 1 in every process; 1 is the first thread here.
        self._ids = itertools.count(2)
        self.refuses_lines = False
        """Whether the lines of breakpoints have no code."""
        self._breakpoints = itertools.count()
        self._scopes: dict[int, dict[str, Any]] = {}
        self._references: set[int] = set()
        self._lives = itertools.count()
        self._life: dict[int, int] = {}
        self._targets: set[int] = set()
        self._module_told = False

    # Input from the bridge.

    def dialled(self, host: str, port: int) -> None:
        assert (host, port) == (self.row.host, self.row.port)
        assert not self.connected, "debugpy takes one client"
        self.dials += 1
        self.connected, self.complete = True, False
        self._seq, self._expected = 0, 1
        self._module_told = False
        self.stopped.clear()
        self.started.clear()
        self._step("dial", lambda: self._feed(WorkerConnected(self.key)))

    def received(self, data: bytes) -> None:
        message = json.loads(data)
        assert self.connected, f"{self.key} has hung up and gets {message}"
        assert message["seq"] == self._expected, message
        self._expected += 1
        if message["type"] != "request":
            self.heard.append(message)
            return
        is_pydevds = self.row.agent and message["command"] == "pause"
        validate({**message, "arguments": {"threadId": 0}} if is_pydevds else message)  # pydevd's "*" is not valid DAP.
        self.heard.append(message)
        command = message["command"]
        if command in ("attach", "configurationDone"):
            self._handshake(message)
        else:
            self._step(command, lambda: self._answer(message))

    def _step(self, name: str, action: Callable[[], None]) -> None:
        if name in self.hold:
            self._held.append((name, action))
        else:
            action()

    def release(self, name: str | None = None) -> None:
        """Send what was held back under this name, or everything."""
        self.hold = self.hold - {name} if name is not None else set()
        held, self._held = self._held, []
        for step, action in held:
            self._step(step, action)

    def commands(self) -> list[str]:
        """Return the commands of the requests that were received since the last call."""
        commands = [message["command"] for message in self.heard]
        self.heard.clear()
        return commands

    # Output to the bridge.

    def say(self, event: str, body: Any = None) -> None:
        self._send({"type": "event", "event": event, **({} if body is None else {"body": body})})

    def reply(self, request: dict[str, Any], body: Any = None) -> None:
        answer = {"type": "response", "request_seq": request["seq"], "success": True, "command": request["command"]}
        self._send({**answer, **({} if body is None else {"body": body})})

    def refuse(self, request: dict[str, Any], message: str) -> None:
        answer = {"type": "response", "request_seq": request["seq"], "success": False, "command": request["command"]}
        self._send({**answer, "message": message})

    def raw(self, data: bytes) -> None:
        self._feed(WorkerMessage(self.key, data))

    def stop(self, thread: int = 1, reason: str = "breakpoint", **body: Any) -> None:
        """Stop a thread."""
        if thread not in self.started:
            self.started.add(thread)
            self._life[thread] = next(self._lives)
            self.say("thread", {"reason": "started", "threadId": thread})
        paths = (self.path, PLUMBING)
        self.stopped[thread] = [self._frame(name, path) for name, path in zip(("step", "main"), paths, strict=True)]
        self.stopped[thread][0]["source"]["sourceReference"] = self.source_reference
        event = {"reason": reason, "threadId": thread, "preserveFocusHint": False, "allThreadsStopped": False}
        self.say("stopped", {**event, "origin": f"{self.key} thread {thread} life {self._life[thread]}", **body})

    def resume(self, *threads: int) -> None:
        """Resume threads."""
        for thread in threads:
            self.stopped.pop(thread, None)
            self.say("continued", {"threadId": thread, "allThreadsContinued": False})

    def exit(self, thread: int) -> None:
        """End a thread."""
        self.stopped.pop(thread, None)
        self.started.discard(thread)
        self.say("thread", {"reason": "exited", "threadId": thread})

    def die(self, reason: str = "connection reset", refused: bool = False) -> None:
        """Close the connection, or fail to connect."""
        self.connected = False
        self._held.clear()
        self._feed(WorkerGone(self.key, reason, refused))

    def _send(self, message: dict[str, Any]) -> None:
        self._seq += 1
        self.said.append(message)
        self.raw(json.dumps({"seq": self._seq, **message}).encode())

    def _frame(self, name: str, path: str) -> dict[str, Any]:
        source = {"path": path, "sourceReference": 0}
        local = next(self._ids)
        return {
            "id": local,
            "name": name,
            "line": self.line,
            "column": 1,
            "source": source,
            "origin": f"{self.key} {local}",
        }

    def _module(self) -> dict[str, Any]:
        return {"id": 0, "name": "__main__", "path": self.path, "origin": f"{self.key} module of dial {self.dials}"}

    def _target(self) -> dict[str, Any]:
        local = next(self._ids)
        self._targets.add(local)
        return {"id": local, "origin": f"{self.key} {local}"}

    def reference(self) -> dict[str, Any]:
        """Return a new variablesReference and the `origin` of the value that it refers to."""
        local = next(self._ids)
        self._references.add(local)
        return {"variablesReference": local, "origin": f"{self.key} {local}"}

    # Responses to requests.

    def _handshake(self, request: dict[str, Any]) -> None:
        """Handle `attach` and `configurationDone` in debugpy's order.

        `attach` is answered only after configurationDone, which may come only after `initialized`. The pydevd of an
        agent answers `attach` before.
        """
        if request["command"] == "attach":
            self._attach = request
            self._step("initialized", lambda: self.say("initialized"))
            if self.row.agent:
                self._step("attach", self._attached)
            return
        self._step("configurationDone", lambda: self.reply(request))
        if not self.row.agent:
            self._step("attach", self._attached)

    def _attached(self) -> None:
        self.complete = True
        self.reply(self._attach)
        body = {"name": "train.py", "systemProcessId": self.row.pid or 4711, "isLocalProcess": True}
        self.say("process", {**body, "startMethod": "attach"})

    def _answer(self, request: dict[str, Any]) -> None:
        command, arguments = request["command"], request.get("arguments", {})
        thread = arguments.get("threadId")
        if command == "initialize":
            self.reply(request, {"supportsConfigurationDoneRequest": True})
            for package in ("ptvsd", "debugpy"):
                self.say("output", {"category": "telemetry", "output": package, "data": {"packageVersion": "1.8.22"}})
            self.say("debugpySockets", {"sockets": []})
            self.say("debugpyWaitingForServer", {"host": "127.0.0.1", "port": 1})
        elif command == "evaluate":
            self._evaluate(request, arguments["expression"])
        elif command in ("setBreakpoints", "setFunctionBreakpoints"):
            source = arguments.get("source", {})
            answers = [
                {"verified": not self.refuses_lines, "id": next(self._breakpoints), "source": source, **_line(spec)}
                for spec in arguments["breakpoints"]
            ]
            self.reply(request, {"breakpoints": answers})
        elif command == "stackTrace":
            frames = self.stopped.get(thread, [])
            self.reply(request, {"stackFrames": frames, "totalFrames": len(frames)})
            if frames and not self._module_told:
                self._module_told = True
                self.say("module", {"reason": "new", "module": self._module()})
        elif command == "scopes":
            self._scopes_of(request, arguments["frameId"])
        elif command == "variables":
            reference = arguments["variablesReference"]
            assert reference in self._references, f"{self.key} never showed the variables {reference}"
            variable = {"name": f"{self.key}:{reference}", "value": "1", **self.reference()}
            self.reply(request, {"variables": [variable]})
        elif command == "exceptionInfo":
            self.reply(request, {"exceptionId": "ValueError", "breakMode": "unhandled"})
        elif command == "continue":
            self.reply(request, {"allThreadsContinued": True})
            self.resume(*self.stopped)
        elif command in ("setVariable", "setExpression"):
            reference = arguments.get("variablesReference")
            assert reference is None or reference in self._references, f"{self.key} never showed {reference}"
            self.reply(request, {"value": arguments["value"], **self.reference()})
        elif command == "completions":
            self.reply(request, {"targets": [{"label": f"{arguments['text']} of {self.key}"}]})
        elif command in ("stepInTargets", "gotoTargets"):
            self.reply(request, {"targets": [{**self._target(), "label": "f", **_line(arguments)}]})
        elif command == "modules":
            self.reply(request, {"modules": [self._module()], "totalModules": 1})
        elif command == "source":
            assert arguments["sourceReference"] == self.source_reference
            self.reply(request, {"content": f"x = '{self.key}'\n"})
        elif command in ("next", "stepIn", "stepOut", "goto"):
            target = arguments.get("targetId")
            assert target is None or target in self._targets, f"{self.key} never showed the target {target}"
            self.reply(request)
            self.resume(thread)
        else:
            self.reply(request)

    def _scopes_of(self, request: dict[str, Any], frame: int) -> None:
        if not any(each["id"] == frame for frames in self.stopped.values() for each in frames):
            self.refuse(request, "frame not found")
            return
        if frame not in self._scopes:
            self._scopes[frame] = {"name": "Locals", "expensive": False, **self.reference()}
        self.reply(request, {"scopes": [self._scopes[frame]]})

    def _evaluate(self, request: dict[str, Any], expression: str) -> None:
        resumes = (calls.resume_thread, calls.resume_step)
        resumed = [thread for thread in self.started if expression in [resume(thread) for resume in resumes]]
        unseen = [thread for thread in self.started if expression == calls.resume_unseen(thread)]
        resumed += [thread for thread in unseen if not self.stopped.get(thread)]
        paused = [thread for thread in self.started if expression == calls.pause_thread(thread)]
        text = text_answer(self, expression)
        if expression == "fail":
            self.refuse(request, "evaluation failed")
        elif text is not None:
            self.reply(request, {"result": json.dumps(text), "variablesReference": 0})
        elif "file_queries.job_folders" in expression and self.folder:
            modules = ["/py_modules_files/_ray_pkg_ab"] if self.module_copies else []
            self.reply(request, {"result": json.dumps([self.folder, *modules]), "variablesReference": 0})
        elif "frame_variables.frame_variables" in expression:
            frames = re.findall(r"\d+", re.findall(r"frame_variables\(.*?, \(([\d, ]*)\)", expression)[0])
            self.reply(
                request, {"result": json.dumps(json.dumps([self.locals] * len(frames))), "variablesReference": 0}
            )
        elif "running_values.evaluate_running" in expression:
            self.reply(request, {"result": json.dumps(self.running_value), "variablesReference": 0})
        elif (
            "blocked_threads.blocked_threads" in expression
            or "stack_reader.read_stacks" in expression
            or "thread_waits.read_waits" in expression
        ):
            self.reply(request, {"result": json.dumps(self.blocked), "variablesReference": 0})
        elif summarised := re.fullmatch(r"\(lambda value, raydap: [^\n]*\)\)\(\((.*)\n\), .*", expression, re.DOTALL):
            text = repr(f"{summarised[1]} of {self.key}")
            said = self.values.get(summarised[1], {"type": "str", "text": text, "hash": text})
            self.reply(request, {"result": repr(json.dumps(said)), "type": "str", "variablesReference": 0})
        elif expression == task_calls.current_task():
            self.reply(request, {"result": repr(self.task), "variablesReference": 0})
        elif "followed_calls" in expression or "remote_results.is_outermost" in expression:
            answer = next((each for name, each in self.steps.items() if name in expression), "")
            self.reply(request, {"result": json.dumps(answer), "variablesReference": 0})
        elif expression == calls.collectives():
            self.reply(request, {"result": json.dumps(self.collectives), "variablesReference": 0})
        elif expression == calls.own_rank():
            self.reply(request, {"result": json.dumps(self.rank), "variablesReference": 0})
        elif "file_queries.copies_of" in expression:
            if "copies" in self.hold:
                return
            copies = self.copies_answer or json.dumps([self.copy, *self.module_copies])
            self.reply(request, {"result": copies, "variablesReference": 0})
        elif "file_queries.code_lines" in expression or "first_line.first_line" in expression:
            lines = self.lines if "code_lines" in expression else self.first_line
            self.reply(request, {"result": lines, "variablesReference": 0})
        elif resumed or unseen or paused or expression in _CHANGES:
            self.reply(request, {"result": "", "variablesReference": 0})
            self.resume(*resumed)
        else:
            self.reply(request, {"result": f"{expression} of {self.key}", "variablesReference": 0})


def blocked(*threads: int, cwd: str = "/app", **stack: Any) -> str:
    """Return a worker's report about these threads, which are blocked in `lock.acquire` of /app/train.py."""
    users = {"name": "step", "path": "/app/train.py", "line": 41, "owner": 0}
    frames = [
        {"name": "wait", "path": "/usr/lib/python3.11/threading.py", "line": 320, "owner": 2},
        {**users, "locals": [{"name": "loss", "value": "0.5", "type": "float"}]},
        {"name": "main", "path": PLUMBING, "line": 5, "owner": 2},
    ]
    shown = {"main": True, "activity": "blocked", "call": "lock.acquire", "user": 1, "is_users": True, "frames": frames}
    return json.dumps(
        {"cwd": cwd, "threads": [{"id": thread, "name": f"thread {thread}", **shown, **stack} for thread in threads]}
    )


def _line(spec: dict[str, Any]) -> dict[str, Any]:
    return {"line": spec["line"]} if "line" in spec else {}
