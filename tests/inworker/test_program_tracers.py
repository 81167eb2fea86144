"""The functions of sys.settrace and sys.setprofile see a program as without raydap, except during a session."""

import re
from contextlib import ExitStack
from pathlib import Path

import pytest

from support.agents import PreparedProgram, attach, hanging_up, read_line, run_plain

pytestmark = pytest.mark.core

# Each thread of the program prints its tracers, and which events of `work` these have received. `at` waits for the
# test.
PROGRAM = """\
import ctypes, os, queue, sys, threading, time
from pathlib import Path

FOLDER = Path(__file__).parent
counts, seen_threads = {}, set()

def name_here():
    # A thread that begins or ends is not there.
    return getattr(threading._active.get(threading.get_ident()), "name", "")

def count(kind, frame, event, name_here=name_here):
    name = name_here()
    # From Python 3.12 on a profiler sees in each thread how it was set, and that Thread.run is called.
    if not str(event).startswith("c_"):
        seen_threads.add(name)
    if frame.f_code.co_name in ("work", "blocked", "running"):
        of_thread = counts.setdefault(name, {})
        key = kind, frame.f_code.co_name, str(event)
        of_thread[key] = of_thread.get(key, 0) + 1

def trace(frame, event, arg):
    count("trace", frame, event)
    return trace

class OwnTrace:
    def __call__(self, frame, event, arg):
        count("own trace", frame, event)
        return self.of_frame

    def of_frame(self, frame, event, arg):
        count("own trace", frame, event)

def profile(frame, event, arg):
    count("profile", frame, event)

@ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.py_object, ctypes.c_int, ctypes.py_object)
def trace_in_c(itself, frame, event, arg):
    count("trace in C", frame, event)
    return 0

def work():
    total = 0
    for number in range(5):
        total += number
    return total

def name_of(tracer):
    return getattr(tracer, "__name__", type(tracer).__name__)

def look(when):
    name = name_here()
    counts[name] = {}
    work()
    frame = sys._getframe(1)
    tell(when, name, name_of(sys.gettrace()), name_of(sys.getprofile()), name_of(frame.f_trace))
    show(when)

def show(when):
    name = name_here()
    tell(when, name, sorted(counts[name].items()))

def tell(*words):
    os.write(1, (" ".join(map(str, words)) + "\\n").encode())

def at(when):
    while not (FOLDER / when).exists():
        time.sleep(0.01)

def blocked(set_tracer, inbox, outbox):
    set_tracer()
    look("before")
    outbox.put("begun")
    inbox.get()
    look("after")
    show("at its end")
    outbox.put("over")

def trace_by_c():
    ctypes.pythonapi.PyEval_SetTrace.argtypes = [type(trace_in_c), ctypes.py_object]
    ctypes.pythonapi.PyEval_SetTrace(trace_in_c, trace)

class Worker:
    def __init__(self, name, set_tracer=lambda: None):
        self.inbox, self.outbox = queue.Queue(), queue.Queue()
        arguments = set_tracer, self.inbox, self.outbox
        self.thread = threading.Thread(target=blocked, args=arguments, name=name)
        self.thread.start()
        self.outbox.get()

    def end(self):
        self.inbox.put("end")
        self.outbox.get()
        self.thread.join()

def running(outbox):
    while not (FOLDER / "after").exists():
        step()
    look("after")
    show("at its end")
    outbox.put("over")

def step():
    time.sleep(0.001)  # the breakpoint

def main():
    threading.settrace(trace)
    threading.setprofile(profile)
    sys.settrace(trace)
    sys.setprofile(profile)
    workers = [Worker("by the hook"), Worker("own", lambda: sys.settrace(OwnTrace()))]
    workers += [Worker("none", lambda: sys.settrace(None)), Worker("C", trace_by_c)]
    outbox = queue.Queue()
    threading.Thread(target=running, args=(outbox,), name="running").start()
    look("before")
    at("during")
    # Python calls the trace function of new threads for no function that has begun in a session.
    workers.append(Worker("new"))
    workers.append(Worker("new with its own", lambda: sys.settrace(OwnTrace())))
    at("after")
    look("after")
    tell(name_of(threading.gettrace()), name_of(threading.getprofile()))
    outbox.get()
    for worker in workers:
        worker.end()
    Worker("newest").end()
    tell(sorted(seen_threads))

main()
"""
LINE = PROGRAM[: PROGRAM.index("# the breakpoint")].count("\n") + 1


def test_with_an_idle_agent(tmp_path: Path, packages: Path | None, children: ExitStack) -> None:
    program = PreparedProgram.start(PROGRAM, tmp_path, packages, children)
    with hanging_up(program.listener):
        for name in ("during", "after"):
            (tmp_path / name).touch()
        assert program.child.wait() == 0, program.child.output
    assert lines_of(program.child.output) == plain(tmp_path, children)


@pytest.mark.usefixtures("debuggable")
@pytest.mark.parametrize(
    ("line", "ends"), [(0, True), (LINE, True), (LINE, False)], ids=["idle", "at a stop", "killed"]
)
def test_after_a_session(line: int, ends: bool, tmp_path: Path, packages: Path | None, children: ExitStack) -> None:
    program = PreparedProgram.start(PROGRAM, tmp_path, packages, children)
    program.called().close()
    program.child.wait_for("before MainThread")
    for _ in range(2):
        worker = attach(program, program.dial(), children, *([line] if line else []))
        if line:
            worker.stop()
        (tmp_path / "during").touch()
        program.child.wait_for("before new with .*\n.*\n")
        if ends:
            worker.leave()
        else:
            worker.client.close()  # This is the effect of kill -9.
        connection = program.dial()
        assert read_line(connection)["holder"] == ""
        connection.close()
    (tmp_path / "after").touch()
    assert program.child.wait() == 0, program.child.output
    assert lines_of(program.child.output) == plain(tmp_path, children)


FORKING = (
    PROGRAM[: PROGRAM.index("def main")]
    + """
def child():
    look("in the child")
    tell(name_of(threading.gettrace()))

threading.settrace(trace)
sys.settrace(trace)
look("before")
at("during")
if os.fork() == 0:
    child()
    os._exit(0)
os.wait()
"""
)


@pytest.mark.usefixtures("debuggable")
def test_a_child_that_is_forked_in_a_session(tmp_path: Path, packages: Path | None, children: ExitStack) -> None:
    program = PreparedProgram.start(FORKING, tmp_path, packages, children)
    with hanging_up(program.listener):
        program.child.wait_for("before MainThread.*\n.*\n")
        attach(program, program.dial(), children)
        (tmp_path / "during").touch()
        assert program.child.wait() == 0, program.child.output
    assert program.child.output == run_plain(FORKING, tmp_path, children)


def plain(tmp_path: Path, children: ExitStack) -> list[str]:
    """Return the lines of the program without raydap."""
    folder = tmp_path / "plain"
    folder.mkdir()
    for name in ("during", "after"):
        (folder / name).touch()
    return lines_of(run_plain(PROGRAM, folder, children))


def lines_of(output: str) -> list[str]:
    """Return the lines of an output, without those about functions that begin in a session."""
    lines = output.splitlines()
    return sorted(line for line in lines if not re.match(r"(before|at its end) new |after new [^\[]*$", line))
