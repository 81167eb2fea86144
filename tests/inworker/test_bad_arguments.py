"""Arguments of wrong types, for every request that reaches a worker with an agent.

Each request is answered, the thread stays stopped, and the session continues.
"""

import sys
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest
from dap_client import RequestFailed

from support.agents import PreparedProgram, attach
from support.entered import EnteredWorker

PROGRAM = """\
def work(number):
    total = number + 1
    return total

print("result: " + str(work(6)))
"""

WRONG: tuple[Any, ...] = (None, 1_000_003, -1, 1.5, 2**70, True, "x", "", [None], [], {"a": 1}, {}, [{"a": None}])
"""The values that replace each argument. Each argument is also left out."""

REQUESTS: dict[str, dict[str, Any]] = {
    "stackTrace": {"threadId": "THREAD", "startFrame": 0, "levels": 20, "format": {}},
    "scopes": {"frameId": "FRAME"},
    "variables": {"variablesReference": "SCOPE", "start": 0, "count": 5, "filter": "named", "format": {}},
    "setVariable": {"variablesReference": "SCOPE", "name": "number", "value": "6", "format": {}},
    "setExpression": {"expression": "number", "value": "6", "frameId": "FRAME", "format": {}},
    "evaluate": {"expression": "number", "frameId": "FRAME", "context": "watch", "format": {}},
    "completions": {"text": "num", "column": 4, "line": 1, "frameId": "FRAME"},
    "exceptionInfo": {"threadId": "THREAD"},
    "source": {"sourceReference": 1, "source": {"sourceReference": 1}},
    "stepInTargets": {"frameId": "FRAME"},
    "goto": {"threadId": "THREAD", "targetId": 1_000_000},
    "gotoTargets": {"source": "SOURCE", "line": 3, "column": 1},
    "setBreakpoints": {"source": "SOURCE", "breakpoints": [{"line": 2}], "lines": [2], "sourceModified": False},
    "setFunctionBreakpoints": {"breakpoints": [{"name": "nothing"}]},
    "setExceptionBreakpoints": {"filters": ["uncaught"], "filterOptions": [], "exceptionOptions": []},
    "modules": {"startModule": 0, "moduleCount": 10},
    "threads": {"none": 1},
    "pause": {"threadId": "THREAD"},
    "continue": {"threadId": "THREAD", "singleThread": True},
    "next": {"threadId": "THREAD"},
    "stepIn": {"threadId": "THREAD"},
    "stepOut": {"threadId": "THREAD"},
}
"""Requests with valid arguments, each of which the test replaces by wrong ones. `goto` comes before any gotoTargets."""

MOVING = ("continue", "next", "stepIn", "stepOut")


@pytest.fixture
def worker(tmp_path: Path, packages: Path | None, children: ExitStack) -> EnteredWorker:
    if packages is not None and sys.version_info >= (3, 12):
        pytest.skip("debugpy 1.8.0 cannot debug a Python 3.12 that runs already; the agent reports it")
    program = PreparedProgram.start(PROGRAM, tmp_path, packages, children)
    return attach(program, program.called(), children, 2)


@pytest.mark.core
def test_wrong_arguments_are_answered_and_change_nothing(worker: EnteredWorker) -> None:
    _, _, thread = worker.stop()
    frame = worker.frames(thread)[0]["id"]
    scope = worker.client.request("scopes", frameId=frame)["scopes"][0]["variablesReference"]
    known = {"THREAD": thread, "FRAME": frame, "SCOPE": scope, "SOURCE": {"path": str(worker.path)}}
    for command, arguments in REQUESTS.items():
        good = {name: known.get(value, value) if isinstance(value, str) else value for name, value in arguments.items()}
        for name in good.keys() - {"singleThread"}:
            without = {key: value for key, value in good.items() if key != name}
            for wrong in [without, *({**without, name: value} for value in WRONG)]:
                if command in MOVING and wrong.get(name) is True:
                    continue  # True is 1, a valid thread id.
                with suppress(RequestFailed):
                    worker.client.request(command, **wrong)
                    assert command not in MOVING, wrong
    assert worker.frames(thread)[0]["line"] == 2
    assert worker.client.request("evaluate", expression="6 * 7", frameId=frame)["result"] == "42"
    told = {event["event"] for event in worker.client.events}
    assert "continued" not in told
    # The session ends normally.
    worker.leave()


def test_completions_of_a_frame_that_has_gone_are_refused(worker: EnteredWorker) -> None:
    """pydevd answers this with a message of its own protocol, which ended the session."""
    _, _, thread = worker.stop()
    frame = worker.frames(thread)[0]["id"]
    find = "__import__('pydevd').get_global_debugger()"
    worker.call(f"setattr({find}, 'find_frame', lambda *_: None)")
    with pytest.raises(RequestFailed, match="Frame not found"):
        worker.client.request("completions", text="num", column=4, frameId=frame)
    assert worker.frames(thread)[0]["line"] == 2
    worker.leave()
