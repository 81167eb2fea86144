"""Post-mortem stops by Ray's own hook, without a cluster."""

from collections.abc import Callable

import pytest

from raydap.inworker import calls
from support.debuggee import Debuggee
from support.entered import EnteredWorker

Start = Callable[..., tuple[EnteredWorker, Debuggee]]

PROGRAM = """\
from ray.util.debugpy import _debugpy_breakpoint, _debugpy_excepthook

class Refused(Exception):
    def __str__(self):
        return "refused: %s" % self.args[0]

def head(values):
    position = 3
    if position >= len(values):
        raise Refused(position)

def task(values):
    _debugpy_breakpoint()
    first = head(values)
    return first

def run():
    try:
        task([])
    except Refused:
        _debugpy_excepthook()

run()
print("DONE")
"""

PICKLED = """\
import pickle
import debugpy

def fail():
    raise ValueError("refused")

def call():
    debugpy.breakpoint()
    fail()

try:
    call()
except ValueError as error:
    print("names pydevd:", b"pydevd_sys" in pickle.dumps(error), repr(pickle.loads(pickle.dumps(error))))
"""

# In debugpy's `attach`, as in the core's.
RULES = [{"module": "ray.util.debugpy", "include": True}]


@pytest.mark.core
@pytest.mark.parametrize("tune", [True, False])
@pytest.mark.parametrize("my_code", [True, False])
def test_the_failing_frame_comes_first_after_a_breakpoint(start: Start, tune: bool, my_code: bool) -> None:
    worker, debuggee = start(PROGRAM, tune=tune, filters=["uncaught"], justMyCode=my_code, rules=RULES)
    _, _, thread = worker.stop()
    worker.repl(calls.resume_thread(thread))
    assert worker.stop() == ("exception", "raise Refused(position)", thread)
    info = worker.client.request("exceptionInfo", threadId=thread)
    assert (info["exceptionId"].split()[0], info["description"]) == ("Refused", "refused: 3")
    worker.repl(calls.resume_thread(thread))
    assert debuggee.child.wait() == 0
    assert sum(event["event"] == "stopped" for event in worker.client.events) == 2


@pytest.mark.core
def test_an_exception_can_be_unpickled_where_there_is_no_debugger(start: Start) -> None:
    worker, debuggee = start(PICKLED, filters=["uncaught"])
    worker.repl(calls.resume_thread(worker.stop()[2]))
    assert debuggee.child.wait() == 0
    assert "names pydevd: False ValueError('refused')" in debuggee.child.output
