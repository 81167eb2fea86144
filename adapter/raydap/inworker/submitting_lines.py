"""Lines that submit a task, a method call or an actor to Ray; runs in the worker.

At each stop at such a line the worker sends the event `raydapSubmits`, so that raydap knows without a request where
Step Into has to follow a call into another process (followed_calls.py).
"""

import linecache
from contextlib import suppress
from typing import Any


def submits(frame: Any) -> bool:
    """Return whether the frame's current line refers to `.remote`.

    A line without source counts if its function does. Comprehensions have code of their own before Python 3.12.
    """
    code = frame.f_code
    if any("remote" in getattr(each, "co_names", ()) for each in (code, *code.co_consts)):
        line = linecache.getline(code.co_filename, frame.f_lineno)
        return not line or ".remote" in line
    return False


def report_submission(debugger: Any, thread: Any, frame: Any) -> None:
    """Send the event if a thread is about to stop at such a line, and report its task (call_sites.py).

    The stop is reported later, because a client may step as soon as it gets the stop.
    """
    with suppress(Exception):  # It would be raised in the program, for example for a frame that a plugin has made up.
        if "raydap_calls" in vars(debugger):
            debugger.raydap_calls.report_task(thread)
        if submits(frame):
            from _pydevd_bundle.pydevd_constants import get_thread_id

            send_event(debugger, "raydapSubmits", {"threadId": dap_id(get_thread_id(thread))})


def dap_id(key: Any) -> Any:
    """Return DAP's id of the thread or frame with this id of pydevd."""
    from _pydevd_bundle._debug_adapter.pydevd_base_schema import BaseSchema

    return BaseSchema._translate_id_to_dap(key)


def send_event(debugger: Any, event: str, body: dict[str, Any]) -> None:
    """Send an event of raydap's own to raydap's core, which removes it."""
    from _pydevd_bundle.pydevd_comm_constants import CMD_WRITE_TO_CONSOLE
    from _pydevd_bundle.pydevd_net_command import NetCommand

    message = {"type": "event", "event": event, "body": body}
    debugger.writer.add_command(NetCommand(CMD_WRITE_TO_CONSOLE, 0, message, is_json=True))
