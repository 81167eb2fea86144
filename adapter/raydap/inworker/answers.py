"""An answer to every request, whatever it contains and whatever the user's code raises; runs in the worker.

pydevd's commands catch only Exception. pydevd logs anything else that they raise, such as the SystemExit of `exit()`,
and never answers the request. pydevd's reader catches nothing: an argument of a wrong type, such as a `name` that is
null, ended the debugger. When `completions` failed, as for a frame that had just resumed, pydevd answered in a protocol
that no DAP client reads, which also ended the session.
"""

import json
import traceback
from types import SimpleNamespace
from typing import Any

from .replaced_functions import install, original
from .time_limits import TimeLimits


def answer_commands(debugger: Any, limits: TimeLimits, wake: bool) -> None:
    """Answer the request with the error if a command fails or takes too long, and keep the worker alive.

    With `wake`, every command for a thread ends by setting the event of that thread. A suspended thread first handles
    the command that resumes it, and then waits until its event is set or a poll of 0.2 s ends (pydevd.py,
    _do_wait_suspend). pydevd is meant to set this event. With several threads it sets the event of any of them, because
    a loop's variable replaces the argument (pydevd_additional_thread_info_regular.py, _update_stepping_info). So steps
    in Ray workers took up to 0.2 s. debugpy before 1.8.6 has no such event: a suspended thread polls every 10 ms there.
    """
    wake = wake and hasattr(debugger, "get_internal_queue_and_event")

    def post_method_as_internal_command(thread_id: str, method: Any, *args: Any, **kwargs: Any) -> None:
        requests = [each for each in args if hasattr(each, "command") and hasattr(each, "arguments")]

        def run(*inner: Any, **keywords: Any) -> None:
            try:
                if not requests:
                    method(*inner, **keywords)
                else:
                    limits.command(requests[0], lambda: method(*inner, **keywords))
            except BaseException as error:
                if not requests:
                    raise
                _refuse(debugger, requests[0], error)
            finally:
                if wake:
                    debugger.get_internal_queue_and_event(thread_id)[1].set()

        type(debugger).post_method_as_internal_command(debugger, thread_id, run, *args, **kwargs)
        if getattr(method, "__name__", "").startswith("internal_step"):
            limits.hurry(thread_id)

    install("debugger:post_method_as_internal_command", post_method_as_internal_command, debugger)
    install("debugger:cmd_factory.make_error_message", make_error_message, debugger)


def make_error_message(seq: int, text: str) -> Any:
    """Return the answer to a `completions` that failed, in DAP.

    pydevd's method of this name answers in XML (pydevd_net_command_factory_xml.py). pydevd uses it for no other request
    of DAP (pydevd_comm.py, internal_get_completions).
    """
    from _pydevd_bundle.pydevd_comm_constants import CMD_RETURN
    from _pydevd_bundle.pydevd_net_command import NetCommand

    reason = text.strip().rpartition("\n")[2]
    answer = {"type": "response", "request_seq": seq, "command": "completions", "success": False, "message": reason}
    return NetCommand(CMD_RETURN, 0, answer, is_json=True)


def refuse_bad_requests(debugger: Any) -> None:
    """Answer a request that pydevd's reader cannot process with the error, and keep the reader alive."""
    process = original("debugger:reader.process_net_command_json", debugger)

    def process_net_command_json(py_db: Any, json_contents: bytes, *args: Any, **kwargs: Any) -> None:
        try:
            process(py_db, json_contents, *args, **kwargs)
        except Exception as error:
            request = json.loads(json_contents)
            _refuse(py_db, SimpleNamespace(seq=request["seq"], command=request["command"]), error)

    install("debugger:reader.process_net_command_json", process_net_command_json, debugger)


def _refuse(debugger: Any, request: Any, error: BaseException) -> None:
    from _pydevd_bundle.pydevd_comm_constants import CMD_RETURN
    from _pydevd_bundle.pydevd_net_command import NetCommand

    text = "".join(traceback.format_exception_only(type(error), error)).strip()
    if isinstance(error, SystemExit):
        text += " (this does not end the worker)"
    answer = {"type": "response", "request_seq": request.seq, "command": request.command}
    debugger.writer.add_command(NetCommand(CMD_RETURN, 0, {**answer, "success": False, "message": text}, is_json=True))
