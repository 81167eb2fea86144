"""The changes in real workers work, can be switched off, and are undone, on the newest debugpy and on 1.8.0."""

from collections.abc import Callable
from pathlib import Path

import pytest
from dap_client import Client

from support.debuggee import Debuggee
from support.look import bodies, evaluate, frames, go_on, line_of

# pydevd may wake another of its traced threads than the one that steps (inworker/changes.py), so the program has
# several. The poll takes so long that a step which waits for it never ends (nor, at times, does the process).
PROGRAM = """\
import pydevd, socket, threading, time
pydevd.TIMEOUT_SLOW = 3600
over = False

def spin():
    while not over:
        time.sleep(0.01)

threads = [threading.Thread(target=spin) for _ in range(8)]
for thread in threads:
    thread.start()

def changed():
    debugger = pydevd.get_global_debugger()
    nodelay = debugger.writer.sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    single = debugger.multi_threads_single_notification
    added = ("post_method_as_internal_command", "set_suspend", "_do_wait_suspend", "raydap")
    return str((nodelay, single, [name for name in added if name in vars(debugger)]))

def work(total):
    breakpoint()
    total += 1
    total += 2
    breakpoint()
    total += 3

work(0)
while changed() != "(0, True, [])":
    time.sleep(0.01)
over = True
print("DONE")
"""


ALWAYS = ["post_method_as_internal_command", "set_suspend", "_do_wait_suspend", "raydap"]
"""The attributes that raydap adds to pydevd's debugger object even without tuning."""


@pytest.fixture
def debuggee(plain_debugpy: Callable[..., Debuggee], packages: Path | None) -> Debuggee:
    return plain_debugpy(PROGRAM, packages)


@pytest.mark.core
def test_steps_wait_for_no_poll_and_nothing_is_left_behind(client: Client, debuggee: Debuggee) -> None:
    client.start_session("attach", {"workers": [f"{debuggee.host}:{debuggee.port}"]})
    stop = client.wait_event("stopped")
    assert evaluate(client, stop, "changed()") == repr(str((1, False, ALWAYS)))
    for command in ("next", "next", "next", "stepIn"):
        client.request(command, threadId=stop["threadId"])
        stop = client.wait_event("stopped")
    assert frames(client, stop)[0]["line"] >= line_of(PROGRAM, "total += 2")
    go_on(client, stop)
    client.request("disconnect")
    debuggee.child.wait_for("DONE")


@pytest.mark.core
def test_continue_resumes_one_thread_only(
    client: Client, plain_debugpy: Callable[..., Debuggee], packages: Path | None
) -> None:
    two = """\
import threading

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
    debuggee = plain_debugpy(two, packages)
    client.start_session("attach", {"workers": [f"{debuggee.host}:{debuggee.port}"]})
    for _ in range(6):
        go_on(client, client.wait_event("stopped"))
    assert debuggee.child.wait() == 0
    assert len(bodies(client, "stopped")) == 6
    assert "DONE" in debuggee.child.output


def test_a_worker_that_is_not_to_be_tuned_only_reports_each_thread(client: Client, debuggee: Debuggee) -> None:
    client.start_session("attach", {"workers": [f"{debuggee.host}:{debuggee.port}"], "tuneWorkers": False})
    stop = client.wait_event("stopped")
    assert evaluate(client, stop, "changed()") == repr(str((0, False, ALWAYS)))
    # Only `continue` wakes the thread: at the end of a session, it would wait for its poll.
    go_on(client, stop)
    go_on(client, client.wait_event("stopped"))
    client.request("disconnect")
    debuggee.child.wait_for("DONE")
