"""Expressions about the tasks of Ray: the steps that follow their calls, and the calls that stacks show.

They are like those of calls.py, which reads their results.
"""

from .calls import _DEBUGGER, _answer, _installed, _package


def recorded_call(task: str) -> str:
    """Return the expression for the call that submitted a task (call_site_values.py): a `str` of JSON, or ""."""
    return _answer("call_site_values", f"read_call({_DEBUGGER}, {task!r})")


def running_frame(task: str, number: int) -> str:
    """Return the expression for the worker's own id of a frame of a call, as a `str`, "" if it runs no more."""
    return _answer("call_site_values", f"running_frame({_DEBUGGER}, {task!r}, {number})")


def frame_values(task: str, number: int) -> str:
    """Return the expression for the variables of a frame of a call: a `str` of JSON, "" if it runs no more."""
    return _answer("call_site_values", f"frame_values({_DEBUGGER}, {task!r}, {number})")


def arm_step(number: int, thread: int, target: int) -> str:
    """Return the expression that lets a step of a stopped thread follow the next call to Ray (followed_calls.py).

    `thread` is the worker's own id; `target` is the worker's id of a step-in target, or -1. The result is "armed", or
    "" if there is no such call.
    """
    return _answer("followed_calls", f"followed_calls({_DEBUGGER}).arm({number}, {thread}, {target})")


def disarm_step(number: int) -> str:
    """Return the expression that ends a step whose line has submitted no call."""
    return f"{_DEBUGGER}.raydap_steps.disarm({number})"


def decide_step(number: int, follow: bool) -> str:
    """Return the expression that lets the call of a step be submitted, with `follow` as one that raydap follows."""
    return f"{_DEBUGGER}.raydap_steps.decide({number}, {follow})"


def resolve_step(number: int, task: str) -> str:
    """Return the expression that notes the hex id of the task of a step, "" if the step is over."""
    call = f"raydap.followed_calls.followed_calls({_DEBUGGER}).resolve({number}, {task!r})"
    return f"(lambda raydap: {call})({_installed('followed_calls')})"


def is_called(number: int, task: str) -> str:
    """Return the condition of a breakpoint: whether the thread has just begun the call of a step."""
    steps = f"{_installed('followed_calls', dense=False)}.followed_calls.followed_calls({_DEBUGGER})"
    # A call between `leave` and the end of the session does not stop.
    return f"{_package()!r} in __import__('sys').modules and {steps}.is_call({number}, {task!r})"


def current_task() -> str:
    """Return the expression for the hex id of the task that a stopped thread runs, as a `str`, "" outside of tasks.

    It is for an evaluate in a frame with the context "watch", like `summary`; `read_summary` reads the result.
    """
    return f"{_installed('call_sites')}.call_sites.current_task()"


def stop_at_result(task: str) -> str:
    """Return the expression that stops the caller where it takes the result of a task.

    The result is "watched", or "" if the caller has taken it already.
    """
    return _answer("followed_calls", f"followed_calls({_DEBUGGER}).results.stop_at({task!r})")


def forget_result(task: str) -> str:
    """Return the expression that undoes `stop_at_result`."""
    return f"{_DEBUGGER}.raydap_steps.results.forget({task!r})"


def is_outermost(thread: int) -> str:
    """Return the expression for "yes" if a stopped thread is in the outermost function of its task, else "no"."""
    return _answer("remote_results", f"is_outermost({_DEBUGGER}, {thread})")
