"""Contents that are too long for one message of debugpy: each request is answered, and no worker is lost."""

from collections.abc import Callable
from pathlib import Path

import pytest
from dap_client import Client, RequestFailed

from support.debuggee import Debuggee
from support.look import bodies, evaluate, frames, go_on, problems

PROGRAM = """\
def work(number):
    breakpoint()
    print("line\\n" * 4_000_000, end="END")
    breakpoint()
    return number

work(20_000_000)
print("DONE")
"""


@pytest.fixture
def debuggee(plain_debugpy: Callable[..., Debuggee], packages: Path | None) -> Debuggee:
    return plain_debugpy(PROGRAM, packages)


@pytest.mark.core
@pytest.mark.parametrize("tuned", [True, False])
def test_a_long_value_is_copied_whole_and_shown_in_part(client: Client, debuggee: Debuggee, tuned: bool) -> None:
    where = {"workers": [f"{debuggee.host}:{debuggee.port}"], "tuneWorkers": tuned}
    client.start_session("attach", where)
    stop = client.wait_event("stopped")
    frame = frames(client, stop)[0]["id"]
    copied = client.request("evaluate", expression="'xé' * (number // 2)", frameId=frame, context="clipboard")
    assert copied["result"] == repr("xé" * 10_000_000)
    assert copied["type"] == "str"
    shown = client.request("evaluate", expression="'x' * 20_000_000", context="repl")["result"]
    assert len(shown) < 1_000_000
    with pytest.raises(RequestFailed, match="1004"):
        client.request("evaluate", expression="1 " + " " * 20_000_000, frameId=frame)
    assert evaluate(client, stop, "number + 1") == "20000001"
    client.request("disconnect")
    assert debuggee.child.wait() == 0
    assert "DONE" in debuggee.child.output


@pytest.mark.core
def test_long_output_is_shown_whole(client: Client, debuggee: Debuggee) -> None:
    client.start_session("attach", {"workers": [f"{debuggee.host}:{debuggee.port}"], "redirectOutput": True})
    go_on(client, client.wait_event("stopped"))
    stop = client.wait_event("stopped")
    assert evaluate(client, stop, "number") == "20000000"
    printed = "".join(body["output"] for body in bodies(client, "output") if body["category"] == "stdout")
    assert printed.count("line\n") == 4_000_000
    client.request("disconnect")
    assert debuggee.child.wait() == 0


@pytest.mark.core
def test_exit_in_the_console_is_answered_and_ends_nothing(client: Client, debuggee: Debuggee) -> None:
    client.start_session("attach", {"workers": [f"{debuggee.host}:{debuggee.port}"]})
    stop = client.wait_event("stopped")
    frame = frames(client, stop)[0]["id"]
    for expression in ("exit()", "raise SystemExit"):
        for where in ({"frameId": frame}, {}):
            with pytest.raises(RequestFailed, match="SystemExit"):
                client.request("evaluate", expression=expression, context="repl", **where)
    with pytest.raises(RequestFailed, match="SystemExit"):
        client.request("evaluate", expression="exit()", frameId=frame, context="watch")
    assert evaluate(client, stop, "number") == "20000000"
    client.request("disconnect")
    assert debuggee.child.wait() == 0
    assert "DONE" in debuggee.child.output


UNLIMITED = """\
import pydevd, socket, struct

def unlimited():
    writer = pydevd.get_global_debugger().writer
    del writer.add_command
    if writer.sock.getsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, 16) == bytes(16):
        raise ValueError("no timeout")
    writer.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", 1, 0))

def work(number):
    breakpoint()
    return number

work(20_000_000)
print("DONE")
"""


@pytest.mark.core
def test_a_worker_that_sends_too_long_a_message_is_detached(
    client: Client, plain_debugpy: Callable[..., Debuggee], packages: Path | None
) -> None:
    debuggee = plain_debugpy(UNLIMITED, packages)
    client.start_session("attach", {"workers": [f"{debuggee.host}:{debuggee.port}"]})
    stop = client.wait_event("stopped")
    frame = frames(client, stop)[0]["id"]
    evaluate(client, stop, "unlimited()")
    arguments = {"frameId": frame, "context": "clipboard"}
    copied = [client.send("evaluate", expression=f"{name!r} * number", **arguments) for name in "xy"]
    for asked in copied:
        with pytest.raises(RequestFailed, match="3003"):
            client.result(asked)
    assert "The debugger of the stopped worker" in problems(client)[0]
    assert debuggee.child.wait() == 0
    assert "DONE" in debuggee.child.output
