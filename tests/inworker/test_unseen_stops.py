"""`resume_unseen` resumes a thread without visible frames only, in real debugpy."""

from collections.abc import Callable

import pytest

from raydap.inworker import calls
from support.debuggee import Debuggee
from support.entered import EnteredWorker

pytestmark = pytest.mark.core

PROGRAM = """\
def work():
    total = 0
    breakpoint()
    total += 1  # the first stop
    print("went on", total, flush=True)
    breakpoint()
    total += 1  # the second stop

work()
"""


def test_only_a_thread_without_frames_is_resumed(start: Callable[..., tuple[EnteredWorker, Debuggee]]) -> None:
    worker, _ = start(PROGRAM)
    _, line, thread = worker.stop()
    assert line.endswith("# the first stop")
    worker.call(calls.resume_unseen(thread))
    assert worker.frames(thread)[0]["name"] == "work"
    frame = worker.frames(thread)[0]["id"]
    assert worker.client.request("evaluate", expression="total", frameId=frame)["result"] == "0"
    # All its frames are hidden, as library code is with justMyCode.
    hide = "setattr(d.cmd_factory, '_iter_visible_frames_info', lambda *_: iter(()))"
    show = "vars(d.cmd_factory).pop('_iter_visible_frames_info')"
    resume = f"d.raydap.threads.resume_unseen({thread})"
    worker.call(f"[None for d in [__import__('pydevd').get_global_debugger()] if [{hide}, {resume}, {show}] and None]")
    _, line, _ = worker.stop()
    assert line.endswith("# the second stop")
    worker.call(calls.resume_thread(thread))
    worker.client.wait_event("terminated")
