"""One expression in many stopped workers, one of which hangs."""

from collections.abc import Callable

from dap_client import Client

from support.debuggee import Debuggee
from support.look import go_on

PROGRAM = """\
import threading

number = NUMBER
never = threading.Event()

def work():
    breakpoint()

work()
print("DONE")
"""


def test_the_one_that_hangs_is_named_and_the_others_answer(
    client: Client, plain_debugpy: Callable[[str], Debuggee]
) -> None:
    debuggees = [plain_debugpy(PROGRAM.replace("NUMBER", str(number))) for number in range(3)]
    client.start_session("attach", {"workers": [f"{each.host}:{each.port}" for each in debuggees]})
    stops = [client.wait_event("stopped") for _ in debuggees]
    expression = "number if number != 1 else never.wait(20)"
    results = client.request("raydap/evaluate", expression=expression, timeout=5)["results"]
    hung = [result for result in results if "error" in result]
    assert sorted(result["value"] for result in results if "value" in result) == ["0", "2"]
    assert [result["error"].partition(";")[0] for result in hung] == ["No result after 5 s"]
    assert f" {debuggees[1].child.pid} " in hung[0]["name"]
    for stop in stops:
        if stop["threadId"] != hung[0]["threadId"]:
            go_on(client, stop)
    for debuggee in (debuggees[0], debuggees[2]):
        assert debuggee.child.wait() == 0
