"""raydap's modules in a process are found without the locks, the finders and the modules of the program."""

from collections.abc import Callable

import pytest

from raydap.inworker import calls
from support.debuggee import Debuggee
from support.entered import EnteredWorker

Start = Callable[..., tuple[EnteredWorker, Debuggee]]

pytestmark = pytest.mark.core

# A thread stops while it imports a module, so it holds the lock of that import; it also holds the lock that each import
# of a new module needs for a moment. The finder never returns for a module of raydap.
IMPORTING = """\
import os, sys, threading

asked = []

class Finder:
    def find_spec(self, name, path=None, target=None):
        if "raydap" in name:
            asked.append(name)
            threading.Event().wait()

sys.meta_path.insert(0, Finder())
sys.path.insert(0, os.path.dirname(__file__))
with open(os.path.join(os.path.dirname(__file__), "being_imported.py"), "w") as file:
    file.write("import _imp\\n_imp.acquire_lock()\\nbreakpoint()\\n_imp.release_lock()\\nvalue = 1\\n")
import being_imported
print("asked for", asked, "value", being_imported.value)
"""


def test_a_thread_that_stops_in_an_import_delays_no_request(start: Start) -> None:
    worker, debuggee = start(IMPORTING)
    _, line, thread = worker.stop()
    assert line == "_imp.release_lock()"
    frame = worker.frames(thread)[0]["id"]
    for expression in (
        *(calls.all_stacks(), calls.all_waits(), calls.blocked_threads([thread]), calls.running_value("1", 30)),
        *(calls.frame_variables([frame]), calls.job_folders(), calls.own_rank(), calls.collectives()),
    ):
        worker.query(expression)
    worker.call(calls.show_arrays())
    summary = worker.client.request(
        "evaluate", expression=calls.summary("__name__", 30.0), context="watch", frameId=frame
    )
    assert "being_imported" in calls.read_summary(summary["result"])
    assert worker.call(calls.resume_thread(thread)) == ""
    assert debuggee.child.wait() == 0
    assert debuggee.child.output.splitlines()[-1] == "asked for [] value 1"


# The modules of another version of raydap, and modules of the program with the names of raydap's.
OTHERS = """\
import sys, types
for name in ("_raydap_agent.0123456789ab", "stack_reader", "file_queries", "changes"):
    sys.modules[name] = types.ModuleType(name)
before = {name: module for name, module in sys.modules.items()}
breakpoint()
assert all(sys.modules[name] is module for name, module in before.items())
breakpoint()
print(sorted(name for name in sys.modules if "raydap" in name))
"""


def test_no_modules_of_others_are_used_or_replaced(start: Start) -> None:
    worker, debuggee = start(OTHERS)
    _, _, thread = worker.stop()
    assert '"threads"' in worker.query(calls.all_stacks())
    assert worker.call(calls.resume_thread(thread)) == ""
    worker.stop()
    worker.leave()
    assert debuggee.child.wait() == 0
    assert debuggee.child.output.splitlines()[-1] == "['_raydap_agent.0123456789ab']"


STEPS = """\
import sys
executed = []
sys.addaudithook(lambda event, given: executed.append(given[0].co_filename) if event == "exec" else None)
def work():
    breakpoint()
    first = 1
    second = 2
    return first + second
work()
"""


def test_a_later_request_only_calls_functions(start: Start) -> None:
    worker, debuggee = start(STEPS)
    _, _, thread = worker.stop()
    frame = worker.frames(thread)[0]["id"]

    def installed() -> int:
        counting = {"expression": "executed.count('<raydap agent>')", "context": "clipboard", "frameId": frame}
        return int(worker.client.request("evaluate", **counting)["result"])

    counts = [installed()]
    for _ in range(2):
        for look in (
            calls.all_waits(),
            calls.frame_variables([frame]),
            calls.job_folders(),
            calls.running_value("1", 9),
        ):
            worker.query(look)
        counts.append(installed())
    assert counts[0] == 0 < counts[1] == counts[2]
    worker.client.request("next", threadId=thread)
    assert worker.stop()[1] == "second = 2", "a step does not enter raydap's modules"
    worker.leave()
    assert debuggee.child.wait() == 0


CALLS = """\
import sys
breakpoint()
(limit,) = (module for name, module in sys.modules.items() if name.endswith(".message_limit"))
limit._lines("one")
done = 1
"""


def test_a_step_into_a_function_of_raydap_goes_over_it(start: Start) -> None:
    """A program calls such functions where raydap has replaced those of Ray."""
    worker, debuggee = start(CALLS)
    _, _, thread = worker.stop()
    for line in ('limit._lines("one")', "done = 1"):
        worker.client.request("next" if "limit" in line else "stepIn", threadId=thread)
        assert worker.stop()[1] == line
    worker.leave()
    assert debuggee.child.wait() == 0
