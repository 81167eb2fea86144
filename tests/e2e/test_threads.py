"""A program with several threads: each stop is reported once, and each thread continues separately."""

from collections import Counter
from collections.abc import Callable

from dap_client import Client

from support.debuggee import Debuggee
from support.look import bodies, evaluate, frames, go_on, local_variables, variables, walk

WORKING = """\
import threading

def work(number):
    for turn in range(3):
        breakpoint()
        done = turn

threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("DONE")
"""

SPINNING = """\
import threading

state = {"go": True}
ticks = [threading.Event(), threading.Event()]

def spin(number):
    breakpoint()
    while state["go"]:
        ticks[number].set()
        pause = threading.Event().wait(0.01)

other = threading.Thread(target=spin, args=(1,))
other.start()
spin(0)
other.join()
print("DONE")
"""


def test_three_threads_with_three_breakpoints_are_nine_stops(
    client: Client, plain_debugpy: Callable[[str], Debuggee]
) -> None:
    debuggee = plain_debugpy(WORKING)
    client.start_session("attach", {"workers": [f"{debuggee.host}:{debuggee.port}"]})
    seen = walk(client, 9, "number", "turn")
    assert debuggee.child.wait() == 0
    assert seen == Counter((str(number), str(turn)) for number in range(3) for turn in range(3))
    assert len(bodies(client, "stopped")) == 9
    assert "DONE" in debuggee.child.output


def test_one_thread_continues_and_the_others_stay_stopped(
    client: Client, plain_debugpy: Callable[[str], Debuggee]
) -> None:
    debuggee = plain_debugpy(WORKING)
    client.start_session("attach", {"workers": [f"{debuggee.host}:{debuggee.port}"]})
    first, second, third = (client.wait_event("stopped") for _ in range(3))
    moving = first["threadId"]
    looked_at = frames(client, second)[0]
    assert variables(client, looked_at)["turn"] == "0"
    for turn in ("1", "2"):
        go_on(client, first)
        client.wait_event("continued", lambda body: body["threadId"] == moving)
        first = client.wait_event("stopped", lambda body: body["threadId"] == moving)
        assert local_variables(client, first)["turn"] == turn
    # The variables of the second thread are still valid, so it has never run.
    assert variables(client, looked_at)["turn"] == "0"
    listed = client.request("threads")["threads"]
    assert {thread["id"] for thread in listed} == {stop["threadId"] for stop in (first, second, third)}
    assert len({thread["name"] for thread in listed}) == 3
    assert all(f" {debuggee.child.pid} " in thread["name"] for thread in listed)
    assert all(body["allThreadsStopped"] is False for body in bodies(client, "stopped"))
    assert all(body["allThreadsContinued"] is False for body in bodies(client, "continued"))
    go_on(client, first)
    client.wait_event("thread", lambda body: body == {"reason": "exited", "threadId": moving})
    for stop in (second, third):
        go_on(client, stop)
    assert walk(client, 4, "turn") == {("1",): 2, ("2",): 2}
    assert debuggee.child.wait() == 0


def test_pause_stops_one_thread_or_all(client: Client, plain_debugpy: Callable[[str], Debuggee]) -> None:
    debuggee = plain_debugpy(SPINNING)
    client.start_session("attach", {"workers": [f"{debuggee.host}:{debuggee.port}"]})
    stops = {}
    for stop in (client.wait_event("stopped"), client.wait_event("stopped")):
        stops[local_variables(client, stop)["number"]] = stop
        go_on(client, stop)
    client.request("pause", threadId=stops["1"]["threadId"])
    paused = client.wait_event("stopped")
    assert (paused["reason"], paused["threadId"]) == ("pause", stops["1"]["threadId"])
    assert evaluate(client, paused, "(ticks[0].clear(), ticks[0].wait(20))[1]") == "True"
    assert [thread["id"] for thread in client.request("threads")["threads"]] == [paused["threadId"]]
    go_on(client, paused)

    client.request("pause", threadId=0)
    both = [client.wait_event("stopped"), client.wait_event("stopped")]
    assert {stop["threadId"] for stop in both} == {stop["threadId"] for stop in stops.values()}
    evaluate(client, both[0], "state.update(go=False)")
    for stop in both:
        go_on(client, stop)
    assert debuggee.child.wait() == 0
