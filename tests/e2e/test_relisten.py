"""How a worker survives the loss of its debugger at critical moments, on the newest debugpy and 1.8.0.

tests/ray/test_faults.py tests this on real Ray.
"""

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest
from dap_client import Client
from local_cluster import Child

from support.bridge import Bridge
from support.debuggee import Debuggee

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
        print("listens anew", flush=True)

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
lock.acquire()
print("a new one:", pydevd.get_global_debugger() not in (None, debugger), flush=True)
"""


def attach(client: Client, address: str) -> None:
    """Attach, and continue from the first stop."""
    client.start_session("attach", {"workers": [address]})
    client.request("continue", threadId=client.wait_event("stopped")["threadId"])


@pytest.mark.core
@pytest.mark.parametrize("killed", [False, True])
def test_a_thread_that_would_stop_just_after_its_client_disconnected_continues(
    connect_to: Callable[[str, int], Client],
    plain_debugpy: Callable[..., Debuggee],
    packages: Path | None,
    children: ExitStack,
    tmp_path: Path,
    killed: bool,
) -> None:
    bridge = Bridge.start(tmp_path / "bridge.log")
    children.push(bridge.child)
    debuggee = plain_debugpy(LATE, packages)
    client = connect_to(bridge.host, bridge.port)
    attach(client, f"{debuggee.host}:{debuggee.port}")
    debuggee.child.wait_for("RUNS")
    if killed:
        bridge.child.process.kill()
    else:
        client.request("disconnect")
    assert debuggee.child.wait() == 0
    assert "continued" in debuggee.child.output


@pytest.mark.core
def test_a_worker_whose_reader_and_writer_both_lose_the_debugger_listens_once(
    client: Client, run_program: Callable[..., Child], packages: Path | None
) -> None:
    """Ray would list the second adapter, which has no debugger behind it."""
    worker = run_program(RAY + BOTH, env={} if packages is None else {"PYTHONPATH": str(packages)})
    attach(client, worker.wait_for(r"listening on (\S+)")[1])
    assert worker.wait() == 0
    assert "a new one: True" in worker.output
    assert worker.output.count("listens anew") == 1
