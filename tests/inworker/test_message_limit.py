"""Values, results, errors and output of a real worker that are too long for one message."""

from collections.abc import Callable
from typing import Any

import pytest
from dap_client import RequestFailed

from raydap.inworker import calls
from support.debuggee import Debuggee
from support.entered import EnteredWorker

Start = Callable[..., tuple[EnteredWorker, Debuggee]]

PROGRAM = """\
def work(text, documents):
    breakpoint()
    print(text, end="END")
    breakpoint()
    return documents

work("line\\n" * 4_000_000, ["d\\u00e9" * 30_000 for _ in range(250)])
print("DONE")
"""


@pytest.mark.core
def test_what_is_too_long_is_cut_and_the_worker_still_answers(start: Start) -> None:
    worker, debuggee = start(PROGRAM)
    _, _, thread = worker.stop()
    frame = worker.frames(thread)[0]["id"]

    def evaluate(expression: str, context: str = "clipboard", **where: int) -> dict[str, Any]:
        answer: dict[str, Any] = worker.client.request("evaluate", expression=expression, context=context, **where)
        return answer

    answer = evaluate("'x' * 20_000_000", frameId=frame)
    assert answer["result"].endswith("... (cut by raydap: 20000002 characters in all)")
    assert worker.query(calls.result_part(answer["raydapResult"], 20_000_002 - 5)) == "xxxx'"

    fail = "exec('raise ValueError(20_000_000 * \"x\")')"
    for where in ({"frameId": frame}, {}):
        with pytest.raises(RequestFailed, match=r"xxx\.\.\. \(cut by raydap"):
            evaluate(fail, "repl", **where)
    with pytest.raises(RequestFailed):
        evaluate(fail, "watch", frameId=frame)

    # No single value is too long here, but all of them together.
    reference = evaluate("documents", "watch", frameId=frame)["variablesReference"]
    listed = worker.client.request("variables", variablesReference=reference)["variables"]
    values = [variable["value"] for variable in listed if variable["type"] == "str"]
    assert len(values) > 50
    assert all("d\u00e9" in value and "cut by raydap" in value for value in values)

    worker.call(calls.resume_thread(thread))
    worker.stop()
    assert evaluate("6 * 7", frameId=worker.frames(thread)[0]["id"])["result"] == "42"
    worker.leave()
    assert debuggee.child.wait() == 0


@pytest.mark.core
def test_output_that_is_too_long_comes_in_several_events(start: Start) -> None:
    worker, debuggee = start(PROGRAM, redirectOutput=True)
    _, _, thread = worker.stop()
    worker.call(calls.resume_thread(thread))
    worker.stop()
    printed = [event["body"] for event in worker.client.events if event["event"] == "output"]
    texts = [body["output"] for body in printed if body["category"] == "stdout"]
    assert "".join(texts) == "line\n" * 4_000_000 + "END"
    assert len(texts) > 10
    assert all(text.endswith("line\n") for text in texts[:-1])
    worker.leave()
    assert debuggee.child.wait() == 0
