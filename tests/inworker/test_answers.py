"""Every request gets a response, and no evaluation ends the worker, unless it ends the process itself."""

from collections.abc import Callable

import pytest
from dap_client import RequestFailed

from support.debuggee import Debuggee
from support.entered import EnteredWorker

Start = Callable[..., tuple[EnteredWorker, Debuggee]]

PROGRAM = """\
class Odd:
    def __repr__(self):
        raise SystemExit("odd")

def work(odd):
    breakpoint()
    return 1

work(Odd())
print("DONE")
"""


@pytest.mark.core
@pytest.mark.parametrize("tune", [True, False])
def test_exit_is_answered_and_ends_nothing(start: Start, tune: bool) -> None:
    worker, debuggee = start(PROGRAM, tune=tune)
    _, _, thread = worker.stop()
    frame = worker.frames(thread)[0]["id"]
    for expression in ("exit()", "exit(3)", "raise SystemExit", "__import__('sys').exit('why')", "raise GeneratorExit"):
        for context in ("repl", "watch", "hover", "clipboard"):
            for where in ({"frameId": frame}, {}):
                if "raise" in expression and where and context != "repl":
                    continue  # A statement there is a SyntaxError.
                with pytest.raises(RequestFailed, match=r"SystemExit.* \(this does not end the worker\)|GeneratorExit"):
                    worker.client.request("evaluate", expression=expression, context=context, **where)
    worker.client.request("evaluate", expression="odd", frameId=frame, context="repl")
    with pytest.raises(RequestFailed, match="SystemExit"):
        worker.client.request("setExpression", expression="odd", value="exit()", frameId=frame)
    assert worker.client.request("evaluate", expression="6 * 7", frameId=frame)["result"] == "42"
    worker.leave(tune)
    assert debuggee.child.wait() == 0
    assert "DONE" in debuggee.child.output


def test_a_request_with_wrong_arguments_is_refused_and_ends_nothing(start: Start) -> None:
    worker, debuggee = start(PROGRAM, tune=True)
    _, _, thread = worker.stop()
    frame = worker.frames(thread)[0]["id"]
    scope = worker.client.request("scopes", frameId=frame)["scopes"][0]["variablesReference"]
    values: list[object] = [None, 1, [], {}]
    for wrong in values:
        with pytest.raises(RequestFailed, match="AttributeError"):
            worker.client.request("setVariable", variablesReference=scope, name=wrong, value="1")
    assert worker.client.request("evaluate", expression="6 * 7", frameId=frame)["result"] == "42"
    worker.leave(tune=True)
    assert debuggee.child.wait() == 0
