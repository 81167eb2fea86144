"""A pause of one thread, while others run the same code, stops that thread and no other."""

from collections.abc import Callable

from raydap.inworker import calls
from support.debuggee import Debuggee
from support.entered import EnteredWorker

Start = Callable[..., tuple[EnteredWorker, Debuggee]]

PAUSES = 20

SPINNING = """\
import threading
over = False
turns = [0] * 8

def spin(number):
    while not over:
        turns[number] += 1
        threading.Event().wait(0.001)

breakpoint()
threads = [threading.Thread(target=spin, args=(number,)) for number in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("DONE")
"""


def test_a_paused_thread_stops_though_others_run_the_same_code(start: Start) -> None:
    worker, debuggee = start(SPINNING)
    first = worker.stop()[2]
    worker.call(calls.resume_thread(first))
    for _ in range(9):
        worker.client.wait_event("thread", lambda body: body["reason"] == "started")
    threads = worker.client.request("threads")["threads"]
    for turn in range(PAUSES):
        chosen = threads[1 + turn % 8]["id"]
        worker.call(calls.pause_thread(chosen))
        stopped = worker.client.wait_event("stopped")
        assert (stopped["reason"], stopped["threadId"]) == ("pause", chosen)
        frame = worker.frames(chosen)[0]["id"]
        ran = "(lambda old: [threading.Event().wait(0.01) for now in iter(lambda: turns == old, False)])(list(turns))"
        worker.client.request("evaluate", expression=ran, frameId=frame, context="watch")
        worker.call(calls.resume_thread(chosen))
    worker.call("__import__('sys').modules['__main__'].__dict__.update(over=True)")
    assert debuggee.child.wait() == 0
