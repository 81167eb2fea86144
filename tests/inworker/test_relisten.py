"""How a worker survives the loss of its debugger at critical moments.

tests/ray/test_faults.py tests that workers of real Ray listen again.
"""

import os
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest
from dap_client import Client
from local_cluster import Child

from raydap.inworker import calls
from support.debuggee import Debuggee
from support.entered import EnteredWorker

Start = Callable[..., tuple[EnteredWorker, Debuggee]]

# If its client disconnects, Ray's breakpoint() can be between its wait for a client and the stop, because it notifies
# the GCS in between.
LATE = """\
import sys, time
import pydevd

def stop_late():
    debugger = pydevd.get_global_debugger()
    while debugger.authentication.is_authenticated():
        time.sleep(0.01)
    pydevd.settrace(stop_at_frame=sys._getframe())
    return "continued"

breakpoint()
print("RUNS", flush=True)
print(stop_late(), flush=True)
"""

# A replacement for the two modules of Ray that relisten.py uses.
RAY = """\
import sys, threading, types

class Worker:
    node_ip_address = "127.0.0.1"

    def set_debugger_port(self, port):
        print("listens again on 127.0.0.1:%d" % port, flush=True)

class CountingLock:
    def __init__(self):
        self.lock = threading.Lock()
        self.wanted = 0

    def acquire(self):
        self.wanted += 1
        self.lock.acquire()

    def release(self):
        self.lock.release()

ray = types.ModuleType("ray")
ray._private = types.SimpleNamespace(worker=types.SimpleNamespace(global_worker=Worker()))
ray.util = types.SimpleNamespace(debugpy=types.SimpleNamespace(debugger_port_lock=CountingLock()))
sys.modules["ray"] = ray
sys.modules["ray.util.debugpy"] = ray.util.debugpy

import debugpy
print("listening on %s:%d" % debugpy.listen(("127.0.0.1", 0)), flush=True)
debugpy.wait_for_client()
"""

BOTH = """\
import threading, time
import pydevd

class Thread(threading.Thread):
    def empty(self):
        return True

    def add_command(self, command):
        pass

breakpoint()
debugger = pydevd.get_global_debugger()
lock = ray.util.debugpy.debugger_port_lock
lock.acquire()
both = [Thread(target=debugger.dispose_and_kill_all_pydevd_threads) for _ in range(2)]
debugger.reader, debugger.writer = both
for thread in both:
    thread.start()
# One of them waits for Ray's lock; the other has left it to that one, or waits too.
while lock.wanted < 3 and all(thread.is_alive() for thread in both):
    time.sleep(0.01)
lock.release()
for thread in both:
    thread.join()
debugger.block_until_configuration_done()
print("a new one:", pydevd.get_global_debugger() not in (None, debugger), flush=True)
breakpoint()
print("DONE")
"""

FORKS = """\
import os, threading
import pydevd

breakpoint()
debugger = pydevd.get_global_debugger()
debugger.reader = threading.Thread(target=debugger.dispose_and_kill_all_pydevd_threads)
debugger.reader.start()
debugger.reader.join()
debugger.block_until_configuration_done()
breakpoint()
child = os.fork()
if child == 0:
    os._exit(7)
print("exit code:", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""

STUCK = """\
import socket, struct
import pydevd

breakpoint()
debugger = pydevd.get_global_debugger()
del debugger.writer.add_command
debugger.writer.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", 1, 0))
breakpoint()
debugger.block_until_configuration_done()
breakpoint()
print("DONE")
"""


# Ray's breakpoint() ends in the same way, after its wait for a client.
WAITS = """\
import pydevd

pydevd.settrace(stop_at_frame=sys._getframe())
print("DONE")
"""


@pytest.mark.core
@pytest.mark.parametrize("hung_up", [False, True])
def test_a_thread_that_would_stop_just_after_its_client_disconnected_continues(start: Start, hung_up: bool) -> None:
    worker, debuggee = start(LATE)
    worker.call(calls.resume_thread(worker.stop()[2]))
    debuggee.child.wait_for("RUNS")
    if not hung_up:
        worker.call(calls.leave(True))
        worker.client.request("disconnect")
    worker.client.close()
    assert debuggee.child.wait() == 0
    assert "continued" in debuggee.child.output


@pytest.mark.core
def test_a_worker_whose_reader_and_writer_both_lose_the_debugger_listens_once(
    run_program: Callable[..., Child], packages: Path | None, children: ExitStack, tmp_path: Path
) -> None:
    """Ray would list the second adapter, which has no debugger behind it.

    A thread that waits for a client of the old debugger continues when the new debugger has a client, which can enter
    again.
    """
    child = run_program(RAY + BOTH, env={} if packages is None else {"PYTHONPATH": str(packages)})

    def attach(said: str) -> None:
        port = int(child.wait_for(said + r" on 127.0.0.1:(\d+)")[1])
        worker = EnteredWorker.attach("127.0.0.1", port, tmp_path, children)
        # The thread may end the connection before the response arrives.
        worker.client.send("evaluate", expression=calls.resume_thread(worker.stop()[2]), context="clipboard")

    attach("listening")
    attach("listens again")
    assert child.wait() == 0
    assert "a new one: True" in child.output
    assert child.output.count("listens again") == 1


@pytest.mark.core
def test_a_worker_whose_adapter_stops_reading_listens_again(
    run_program: Callable[..., Child], packages: Path | None, children: ExitStack, tmp_path: Path
) -> None:
    child = run_program(RAY + STUCK, env={} if packages is None else {"PYTHONPATH": str(packages)})

    def attach(said: str) -> EnteredWorker:
        port = int(child.wait_for(said + r" on 127.0.0.1:(\d+)")[1])
        return EnteredWorker.attach("127.0.0.1", port, tmp_path, children)

    worker = attach("listening")
    worker.call(calls.resume_thread(worker.stop()[2]))
    _, _, thread = worker.stop()
    frame = worker.frames(thread)[0]["id"]
    copied = worker.client.send("evaluate", expression="20_000_000 * 'x'", frameId=frame, context="clipboard")
    with pytest.raises(ConnectionError):
        worker.client.result(copied)
    again = attach("listens again")
    again.call(calls.resume_thread(again.stop()[2]))
    assert child.wait() == 0
    assert child.output.count("listens again") == 1


@pytest.mark.core
def test_a_worker_that_listens_again_can_fork(
    run_program: Callable[..., Child], packages: Path | None, children: ExitStack, tmp_path: Path
) -> None:
    """pydevd connects a forked child to its parent's adapter, whose port has changed."""
    if packages is not None:
        pytest.skip("with debugpy 1.8.0 the forked child of a worker that listened again still hangs")
    child = run_program(RAY + FORKS, env={} if packages is None else {"PYTHONPATH": str(packages)})
    for said in ("listening", "listens again"):
        port = int(child.wait_for(said + r" on 127.0.0.1:(\d+)")[1])
        worker = EnteredWorker.attach("127.0.0.1", port, tmp_path, children)
        _, _, thread = worker.stop()
        if said == "listening":
            worker.call(calls.resume_thread(thread))
        else:
            worker.leave()
    assert child.wait() == 0, child.output
    assert "exit code: 7" in child.output


@pytest.mark.core
def test_a_thread_that_waits_since_before_enter_waits_for_the_next_client(
    run_program: Callable[..., Child], packages: Path | None, children: ExitStack, tmp_path: Path
) -> None:
    """After `kill -9` of raydap before `configurationDone`, it raised ConnectionRefusedError in the task."""
    child = run_program(RAY + WAITS, env={} if packages is None else {"PYTHONPATH": str(packages)})
    client = Client.connect("127.0.0.1", int(child.wait_for(r"listening on 127.0.0.1:(\d+)")[1]))
    client.request("initialize", adapterID="raydap", clientID="raydap", pathFormat="path")
    attached = client.send("attach", justMyCode=False)
    client.wait_event("initialized", unless=attached)
    client.request("evaluate", expression=calls.enter(True), context="clipboard")
    # An answer for which no client is left ends debugpy's adapter.
    os.mkfifo(tmp_path / "closed")
    client.send("evaluate", expression=f"open({str(tmp_path / 'closed')!r}).read()", context="clipboard")
    client.close()
    (tmp_path / "closed").write_text("")
    port = int(child.wait_for(r"listens again on 127.0.0.1:(\d+)")[1])
    worker = EnteredWorker.attach("127.0.0.1", port, tmp_path, children)
    worker.client.send("evaluate", expression=calls.resume_thread(worker.stop()[2]), context="clipboard")
    assert child.wait() == 0, child.output
