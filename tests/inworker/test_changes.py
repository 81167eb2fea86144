"""The changes that `enter` makes in real workers: they work, can be left out, and are undone."""

import json
from collections.abc import Callable
from contextlib import ExitStack

import pytest
from dap_client import RequestFailed

from raydap.inworker import calls
from support.debuggee import Debuggee
from support.entered import EnteredWorker

Start = Callable[..., tuple[EnteredWorker, Debuggee]]

THREADS = """\
import json, pydevd, socket, sys, threading, time
over = False

def spin():
    while not over:
        time.sleep(0.01)

for number in range(8):
    threading.Thread(target=spin).start()

def state():
    debugger = pydevd.get_global_debugger()
    nodelay = debugger.writer.sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    timeout = any(debugger.writer.sock.getsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, 16))
    ours = {name for name, value in vars(debugger).items() if callable(value) and hasattr(type(debugger), name)}
    ours |= {"raydap"} & vars(debugger).keys() | {"add_command"} & vars(debugger.writer).keys()
    ours.discard("dont_trace_external_files")  # debugpy's own.
    modules = sorted({name.partition(".")[0] for name in sys.modules if "raydap" in name})
    return json.dumps([nodelay, timeout, debugger.multi_threads_single_notification, sorted(ours), modules])

def work(total):
    breakpoint()
    total += 1
    total += 2
    return total

work(0)
breakpoint()
over = True
print("DONE")
"""

# pydevd may wake another of its traced threads than the one that steps (raydap/inworker/changes.py). The poll takes so
# long here that a step which waits for it never ends; nor, at times, does the process.
SLOW = THREADS.replace("over = False", "over = False; pydevd.TIMEOUT_SLOW = 3600", 1)

ALWAYS = [
    "add_command",
    "_do_wait_suspend",
    "do_stop_on_unhandled_exception",
    "post_method_as_internal_command",
    "raydap",
]
ALWAYS += [
    "handle_breakpoint_condition",
    "handle_breakpoint_expression",
    "set_suspend",
    "_internal_get_file_type",
    "apply_files_filter",
    "exclude_exception_by_filter",
    "get_file_type",
    "in_project_scope",
]


def state(worker: EnteredWorker, thread: int) -> list[object]:
    """Return the state that `enter` changes.

    It is TCP_NODELAY, whether sending has a timeout, whether one notification is for all threads, what pydevd has of
    raydap's, and the packages of raydap's modules.
    """
    frames = worker.frames(thread)
    answer = worker.client.request("evaluate", expression="state()", frameId=frames[0]["id"], context="clipboard")
    found: list[object] = json.loads(answer["result"].strip("'"))
    return found


@pytest.mark.core
def test_steps_wait_for_no_poll(start: Start) -> None:
    worker, debuggee = start(SLOW)
    _, _, thread = worker.stop()
    for command in ("next", "next", "stepIn"):
        worker.client.request(command, threadId=thread)
        assert worker.stop()[::2] == ("step", thread)
    worker.call(calls.resume_thread(thread))
    worker.stop()
    worker.call(calls.resume_thread(thread))
    debuggee.child.wait_for("DONE")


@pytest.mark.core
def test_a_single_thread_is_woken_without_tuning(start: Start) -> None:
    worker, debuggee = start(SLOW, tune=False)
    for _ in range(2):
        worker.call(calls.resume_thread(worker.stop()[2]))
    debuggee.child.wait_for("DONE")


@pytest.mark.core
@pytest.mark.parametrize("tune", [True, False])
def test_nothing_is_left_behind(start: Start, tune: bool) -> None:
    worker, debuggee = start(THREADS, tune=tune)
    _, _, thread = worker.stop()
    stays = ["do_wait_suspend"] if tune else []
    watches = ["dispose_and_kill_all_pydevd_threads"] if tune else []
    assert state(worker, thread) == [int(tune), tune, False, sorted([*ALWAYS, *stays, *watches]), ["_raydap_agent"]]
    assert worker.call(calls.leave(tune)) == ""
    assert state(worker, thread) == [0, False, True, stays, []]
    worker.client.request("disconnect")
    assert debuggee.child.wait() == 0


@pytest.mark.core
@pytest.mark.parametrize("left", [True, False])
def test_a_worker_can_be_attached_again(start: Start, children: ExitStack, left: bool) -> None:
    """This works even after a session without `leave`, because raydap was killed."""
    worker, debuggee = start(THREADS.replace("work(0)", "work(0); __import__('debugpy').wait_for_client(); work(1)"))
    _, _, thread = worker.stop()
    before = state(worker, thread)
    if left:
        worker.call(calls.leave(True))
    worker.client.request("disconnect")
    worker.client.close()
    again = EnteredWorker.attach(debuggee.host, debuggee.port, debuggee.path, children)
    for _ in range(2):
        _, _, thread = again.stop()
        assert state(again, thread) == before
        again.call(calls.resume_thread(thread))
    assert debuggee.child.wait() == 0


TWO = """\
import sys, threading, time

def work(number):
    for turn in range(3):
        breakpoint()

threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("DONE")
"""


@pytest.mark.core
def test_each_stop_is_reported_once_and_one_thread_resumed(start: Start) -> None:
    worker, debuggee = start(TWO)
    first, second = worker.stop()[2], worker.stop()[2]
    assert first != second
    for _ in range(2):
        worker.call(calls.resume_thread(first))
        assert worker.stop()[2] == first
    worker.call(calls.resume_thread(first))
    for _ in range(2):
        worker.call(calls.resume_thread(second))
        assert worker.stop()[2] == second
    worker.call(calls.resume_thread(second))
    assert debuggee.child.wait() == 0
    assert sum(event["event"] == "stopped" for event in worker.client.events) == 6


def test_a_thread_that_there_is_not_is_an_error(start: Start) -> None:
    """The core then uses debugpy's own request instead."""
    worker, _ = start(THREADS)
    _, _, thread = worker.stop()
    for call in (calls.resume_thread, calls.resume_step, calls.pause_thread):
        with pytest.raises(RequestFailed):
            worker.call(call(99))
    worker.call(calls.leave(True))
    with pytest.raises(RequestFailed):
        worker.call(calls.resume_thread(thread))
    worker.client.request("disconnect")


def test_goto_works_in_a_worker_that_is_entered(start: Start) -> None:
    """After `goto`, pydevd waits twice for the same stop; it is reported once."""
    worker, debuggee = start("breakpoint()\nprint(1)\nprint(2)\nprint(3)\n")
    _, line, thread = worker.stop()
    assert line == "print(1)"
    source = {"path": str(debuggee.path)}
    (target,) = worker.client.request("gotoTargets", source=source, line=4)["targets"]
    worker.client.request("goto", threadId=thread, targetId=target["id"])
    assert worker.stop() == ("goto", "print(3)", thread)
    worker.call(calls.resume_thread(thread))
    assert debuggee.child.wait() == 0
    assert debuggee.child.output.split()[-1] == "3"
    assert "2" not in debuggee.child.output.split()
