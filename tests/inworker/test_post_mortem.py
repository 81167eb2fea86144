"""Post-mortem stops in Ray's own hook, without a cluster."""

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

# The thread's only Python frame is that of `call`, as in Ray's threaded actors, and the hook runs after `call` has
# ended.
THREAD = """\
import _thread, sys, threading
from ray.util.debugpy import _debugpy_breakpoint, _debugpy_excepthook

def head(values):
    position = 3
    if position >= len(values):
        raise ValueError(position)

def call():
    _debugpy_breakpoint()
    head([])

def report(unraisable):
    try:
        raise unraisable.exc_value
    except ValueError:
        _debugpy_excepthook()
    done.set()

done = threading.Event()
sys.unraisablehook = report
_thread.start_new_thread(call, ())
done.wait()
print("DONE")
"""

AGAIN = """\
from ray.util.debugpy import _debugpy_breakpoint, _debugpy_excepthook

broken = ValueError("broken")

def call():
    raise broken

_debugpy_breakpoint()
for _ in range(2):
    try:
        call()
    except ValueError:
        _debugpy_excepthook()
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

# The core sends these rules in debugpy's `attach`.
RULES = [{"module": "ray.util.debugpy", "include": True}]


@pytest.mark.core
@pytest.mark.usefixtures("stops_for_exceptions")
@pytest.mark.parametrize("tune", [True, False])
@pytest.mark.parametrize("my_code", [True, False])
def test_the_failing_frame_comes_first_after_a_breakpoint(start: Start, tune: bool, my_code: bool) -> None:
    worker, debuggee = start(PROGRAM, tune=tune, filters=["uncaught"], justMyCode=my_code, rules=RULES)
    _, _, thread = worker.stop()
    worker.call(calls.resume_thread(thread))
    assert worker.stop() == ("exception", "raise Refused(position)", thread)
    info = worker.client.request("exceptionInfo", threadId=thread)
    assert (info["exceptionId"].split()[0], info["description"]) == ("Refused", "refused: 3")
    worker.call(calls.resume_thread(thread))
    assert debuggee.child.wait() == 0
    assert sum(event["event"] == "stopped" for event in worker.client.events) == 2


@pytest.mark.core
@pytest.mark.usefixtures("stops_for_exceptions")
def test_an_exception_that_leaves_the_last_frame_of_a_thread_is_shown_once(start: Start) -> None:
    worker, debuggee = start(THREAD, filters=["uncaught"], rules=RULES)
    worker.call(calls.resume_thread(worker.stop()[2]))
    reason, line, thread = worker.stop()
    assert (reason, line) == ("exception", "raise ValueError(position)")
    worker.call(calls.resume_thread(thread))
    assert debuggee.child.wait() == 0
    assert sum(event["event"] == "stopped" for event in worker.client.events) == 2


@pytest.mark.core
@pytest.mark.usefixtures("stops_for_exceptions")
def test_an_exception_that_is_raised_again_is_shown_again(start: Start) -> None:
    """An actor does this that keeps the exception that broke it, and raises it in every later call."""
    worker, debuggee = start(AGAIN, filters=["uncaught"], rules=RULES)
    worker.call(calls.resume_thread(worker.stop()[2]))
    for _ in range(2):
        reason, line, thread = worker.stop()
        assert (reason, line) == ("exception", "raise broken")
        worker.call(calls.resume_thread(thread))
    assert debuggee.child.wait() == 0
    assert sum(event["event"] == "stopped" for event in worker.client.events) == 3


@pytest.mark.core
def test_an_exception_can_be_unpickled_where_there_is_no_debugger(start: Start) -> None:
    worker, debuggee = start(PICKLED, filters=["uncaught"])
    worker.call(calls.resume_thread(worker.stop()[2]))
    assert debuggee.child.wait() == 0
    assert "names pydevd: False ValueError('refused')" in debuggee.child.output
