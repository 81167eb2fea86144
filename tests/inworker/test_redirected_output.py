"""The user evaluates while the program prints.

If this fails because pydevd redirects in another way, check whether its `redirect_stream_to_pydb_io_messages_context`
can still remove an object that `print` is using.
"""

from collections.abc import Callable

import pytest

from support.debuggee import Debuggee
from support.entered import EnteredWorker

Start = Callable[..., tuple[EnteredWorker, Debuggee]]

PROGRAM = """\
import sys, threading, time
end = threading.Event()
shown, sys.stdout = sys.stdout, open("/dev/null", "w")
sys.setswitchinterval(1e-5)
while not end.is_set():
    for _ in range(100):
        print("much")
    time.sleep(0.0001)
print("DONE", file=shown)
"""


@pytest.mark.core
def test_a_program_that_prints_survives_evaluations_in_the_console(start: Start) -> None:
    worker, debuggee = start(PROGRAM)
    for number in range(50):
        answer = worker.client.request("evaluate", expression=str(number), context="repl")
        assert answer["result"] in (str(number), "")
    worker.call("__import__('sys').modules['__main__'].end.set()")
    assert debuggee.child.wait() == 0
    assert "DONE" in debuggee.child.output
