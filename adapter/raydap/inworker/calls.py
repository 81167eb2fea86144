"""Expressions that the core lets workers evaluate, and how their results are read.

The functions that these expressions call are in the other modules of this package; they run in the worker. `enter`
installs them in a package of raydap's own (bundle.py), makes the changes to pydevd (changes.py), and leaves one object
in the worker, as the attribute `raydap` of pydevd's debugger object. Other expressions install further modules at their
first use; after that, they only call a function. `leave` removes the object and the package.

All expressions but `summary`, `current_task` and those of breakpoints are for an `evaluate` without a frame and with
the context "clipboard", whose results pydevd does not shorten. Never use "repl": pydevd then replaces `sys.stdout`, and
restores it while other threads print (redirected_output.py). Most expressions that change something evaluate to None,
because older debugpys print any other value; `read_result` reads the results of the others.
"""

import ast
import functools
import json
from collections.abc import Iterable
from importlib import resources
from typing import Any

from . import bundle

PART = 250_000
"""Characters in a part of a long text. JSON in JSON has at most 14 bytes for a character, and debugpy before 1.8.22
sends such results twice. The total stays below the limit of a message (message_limit.py)."""

MAX_SUMMARY = 16_000
"""Maximum length of a value's summary in characters. Its text of up to TEXT characters (value_summary.py) is escaped to
ASCII twice."""

_DEBUGGER = "__import__('pydevd').get_global_debugger()"

_OWN_RANK = (
    "lambda d=__import__('sys').modules.get('torch.distributed'): str(d.get_rank()) "
    "if d and d.is_available() and d.is_initialized() else __import__('os').environ.get('RANK', '')"
)

COLLECTIVES = ("torch.distributed", "ray.util.collective")
"""The libraries that `collectives` can find."""

_COLLECTIVES = (
    "lambda m=__import__('sys').modules, d=__import__('sys').modules.get('torch.distributed'): "
    f"{COLLECTIVES[0]!r} if d and d.is_available() and d.is_initialized() and d.get_world_size() > 1 else "
    f"{COLLECTIVES[1]!r} if getattr(getattr(m.get('ray.util.collective.collective'), '_group_mgr', None), "
    "'_name_group_map', None) else ''"
)
"""Ray keeps its groups in `_group_mgr` (ray/util/collective/collective.py, GroupManager)."""

OWN = ("(lambda raydap: ", "(lambda value, raydap: ", f"{_DEBUGGER}.raydap.")
"""The beginnings of all expressions that the user's code cannot delay."""


class ResultError(ValueError):
    """The text is not a result of one of the expressions."""


_FOLDER = str(resources.files(__package__))

_ENTERED = ("changes", "query_results", "file_queries")
"""The modules that `enter` installs."""


def enter(tune: bool) -> str:
    """Return the expression that makes the changes of changes.py, at each attach of a worker.

    All other expressions need it: it installs the package in which they install and call modules. With `tune`, the
    process also begins to record where it submits calls to Ray (call_sites.py).
    """
    recorded = f"({_installed('call_sites')}.call_sites.call_sites({_DEBUGGER}).replace(), None)[1]"
    changed = f"raydap.changes.Changes({_DEBUGGER}, raydap).enter({tune})" + f" or {recorded}" * tune
    return f"(lambda raydap: {changed})({_entered()})"


@functools.cache
def _entered() -> str:
    modules = bundle.load(_FOLDER, _package(), *_ENTERED, compiled=True)
    found = f"__import__('sys').modules.get({_package()!r})"
    return f"(lambda own: own if hasattr(own, {_ENTERED[-1]!r}) else {modules})({found})"


def _package() -> str:
    """Return the name of the package in workers, which no other version of raydap uses."""
    return f"{bundle.AGENT}.{bundle.digest(_FOLDER)}"


@functools.cache
def _installed(module: str = "", dense: bool = True) -> str:
    """Return an expression for the package, which installs this module there if necessary."""
    before = bundle.with_imports(_FOLDER, _ENTERED)
    missing = bundle.with_imports(_FOLDER, [module], before)[len(before) :] if module else []
    if not missing:
        return f"__import__('sys').modules[{_package()!r}]"
    # An agent evaluates summaries without a debugger, so before `enter`. Its package has the same functions.
    install = f"m.get(p, m.get({bundle.AGENT!r})).unpack(p, {bundle.packed(_FOLDER, missing, dense=dense)})"
    found = f"m[p] if hasattr(m.get(p), {module!r}) else {install}"
    return f"(lambda m, p: {found})(__import__('sys').modules, {_package()!r})"


def show_arrays() -> str:
    """Return the expression that shows large arrays by their numbers (array_values.py), without a result.

    It is evaluated once in each attached worker, before variables are listed.
    """
    call = f"{_DEBUGGER}.raydap.show_arrays(raydap.array_values.ArrayValues())"
    return f"(lambda raydap: {call})({_installed('array_values')})"


def leave(tune: bool) -> str:
    """Return the expression, for before `disconnect`, that undoes most changes; `tune` is that of `enter`."""
    return f"{_DEBUGGER}.raydap.leave({tune})"


def resume_thread(thread: int) -> str:
    """Return the expression that resumes a stopped thread, by the worker's own id. It fails if `enter` has failed."""
    return f"{_DEBUGGER}.raydap.threads.resume({thread})"


def resume_step(thread: int) -> str:
    """Return the expression that resumes a thread, and continues a step that an exception has interrupted."""
    return f"{_DEBUGGER}.raydap.threads.resume_step({thread})"


def resume_unseen(thread: int) -> str:
    """Return the expression that resumes a thread at a stop without frames, unless it has frames by now."""
    return f"{_DEBUGGER}.raydap.threads.resume_unseen({thread})"


def pause_thread(thread: int) -> str:
    """Return the expression that pauses a thread, by the worker's own id."""
    return f"{_DEBUGGER}.raydap.threads.pause({thread})"


def stop_on_entry() -> str:
    """Return the expression that stops a process, which has not begun its program, at the program's first line.

    The stop has the reason `entry` (first_line.py).
    """
    return f"(lambda raydap: raydap.first_line.stop_on_entry())({_installed('first_line')})"


def first_line(path: str) -> str:
    """Return the expression for a `list` of the first line of a file that has code after its docstring, or []."""
    return _answer("first_line", f"first_line({path!r})")


def blocked_threads(threads: Iterable[int], held: Iterable[int] = ()) -> str:
    """Return the expression for the threads that are to pause and have not stopped (blocked_threads.py).

    `threads` are the worker's own ids, none for all threads of the process; `held` are the ids of threads that are
    known to be stopped. The result is a `str` of JSON.
    """
    return _answer("blocked_threads", f"blocked_threads({_DEBUGGER}, {(*threads,)!r}, {(*held,)!r})")


def all_stacks() -> str:
    """Return the expression for the stacks of all threads (stack_reader.py). The result is a `str` of JSON."""
    return _value("raydap.stack_reader.as_json(raydap.stack_reader.read_stacks())", "stack_reader")


def all_waits() -> str:
    """Return the expression for all stacks and what each thread waits for (thread_waits.py), a `str` of JSON."""
    return _value("raydap.stack_reader.as_json(raydap.thread_waits.read_waits())", "thread_waits")


def frame_variables(frames: Iterable[int]) -> str:
    """Return the expression for the variables of frames of stopped threads (frame_variables.py).

    `frames` are the worker's own ids. The result is a `str`, JSON of a list for each frame, whose variables have
    `name`, `value` and `type`.
    """
    return _answer("frame_variables", f"frame_variables({_DEBUGGER}, {(*frames,)!r})")


def running_value(expression: str, seconds: float) -> str:
    """Return the expression that evaluates `expression` where the user's code runs (running_values.py).

    The result is a `str`, JSON of the value's text. `seconds` is the time for the evaluation.
    """
    return _answer("running_values", f"evaluate_running({expression!r}, {seconds!r})")


def keep_waiting() -> str:
    """Return the expression that lets a worker keep waiting in `breakpoint()` when it loses its debugger.

    A short attach needs it in place of `enter` (runtime/short_attach.py): it installs the package, too.
    """
    return f"(lambda raydap: raydap.relisten.keep_waiting_when_lost({_DEBUGGER}, raydap))({_entered()})"


def lose_debugger() -> str:
    """Return the expression that ends a short attach.

    It removes the package, and ends the worker's connection to debugpy's adapter, which then exits.
    """
    call = f"raydap.remove(raydap.__name__) or {_DEBUGGER}.writer.sock.shutdown(2)"
    return f"(lambda raydap: {call})({_installed()})"


def job_folders() -> str:
    """Return the expression for a `list[str]`: the current directory, and the folders of `py_modules`."""
    return _answer("file_queries", "job_folders()")


def own_rank() -> str:
    """Return the expression for the rank as a `str`: in torch.distributed, else RANK (of Ray Train), else ""."""
    return _value(f"({_OWN_RANK})()")


def collectives() -> str:
    """Return the expression for the one of COLLECTIVES in whose groups the process is, or ""."""
    return _value(f"({_COLLECTIVES})()")


def copies_of(path: str) -> str:
    """Return the expression for a `list[str]`: the file's copy in each of the folders of job_folders(), or ""."""
    return _answer("file_queries", f"copies_of({path!r})")


def source_text(path: str, start: int = 0) -> str:
    """Return the expression for a part of a file's text from `start` on, a `str`.

    Each part but the last has PART characters. There is no result for a file that cannot be read.
    """
    return _answer("file_queries", f"source_text({path!r}, {start}, {PART})")


def code_lines(path: str, first: int, last: int) -> str:
    """Return the expression for the sorted `list` of the lines from `first` to `last` that have code."""
    return _answer("file_queries", f"code_lines({path!r}, {first}, {last})")


def reload_code(paths: list[str], inner: str, packed: str) -> str:
    """Return the expression that gives the functions of a file its new code (code_reload.py), a `str` of JSON."""
    return _answer("code_reload", f"reload_code({paths!r}, {inner!r}, {packed!r})")


def reload_in_agent(paths: list[str], inner: str, packed: str) -> str:
    """Return the expression that does so in a process without a debugger. Its value is the JSON."""
    call = f"raydap.code_reload.reload_code({paths!r}, {inner!r}, {packed!r})"
    modules = bundle.load(_FOLDER, f"{_package()}_reload", "code_reload")
    return f"(lambda raydap: ({call}, raydap.remove(raydap.__name__))[0])({modules})"


def result_part(number: int, start: int) -> str:
    """Return the expression for a part, from `start` on, of a result that was too long (message_limit.py).

    `number` is the `raydapResult` of the answer. Each part but the last has PART characters. There is no result if
    another result was too long since then.
    """
    return _value(f"{_DEBUGGER}.raydap.limit.part({number}, {start}, {PART})")


def summary(expression: str, seconds: float) -> str:
    """Return the expression that summarises the value of the user's expression (value_summary.py).

    It is for an evaluate in a frame with the context "watch": with "clipboard" an exception is a result like any other.
    `seconds` is the time for the numbers of arrays. `read_summary` reads the result.
    """
    # The line break ends a comment at the end of the expression.
    modules = _installed("value_summary")
    return f"(lambda value, raydap: raydap.value_summary.summary(value, {seconds!r}))(({expression}\n), {modules})"


def set_watchpoints(specs: str) -> str:
    """Return the expression that makes these (JSON) the watchpoints; its result is a `str`, JSON of the answers."""
    call = f"raydap.watchpoints.watchpoints({_DEBUGGER}).set(__import__('json').loads({specs!r}))"
    return _value(call, "watchpoints")


def watch_place(frame: int, variable: int, name: str) -> str:
    """Return the expression for the place of a variable, or of an expression in a frame, as a `str` of JSON."""
    return _answer("watched_places", f"place({_DEBUGGER}, {frame}, {variable}, {name!r})")


def stops_at_hit(number: int, marker: str, condition: str) -> str:
    """Return the condition of a breakpoint that counts all hits and stops at few of them (line_hits.py).

    The worker reports the hits in output events, between two markers. `condition` is the user's own, "" for none;
    `number` is raydap's number of the line.
    """
    return _hit("stops", number, marker, condition)


def hit_message(number: int, marker: str, expression: str) -> str:
    """Return the message of a logpoint: the values of the user's expression since the last message, or nothing."""
    return f"{{{_hit('message', number, marker, expression)}}}"


def _hit(method: str, number: int, marker: str, expression: str) -> str:
    """Return a call of a method of LineHits. It contains no braces, because debugpy reads braces in a message."""
    texts = [repr(each).replace("{", r"\x7b").replace("}", r"\x7d") for each in (marker, expression)]
    made = f"{_installed('line_hits', dense=False)}.line_hits.line_hits({_DEBUGGER})"
    # A hit between `leave` and the end of the session does nothing.
    ended = "__import__('types').SimpleNamespace(stops=lambda *hit: False, message=lambda *hit: '')"
    made = f"({made} if {_package()!r} in __import__('sys').modules else {ended})"
    found = f"(vars({_DEBUGGER}).get('raydap_hits') or {made})"
    return f"{found}.{method}({number}, {', '.join(texts)}, globals(), locals())"


@functools.cache
def _safe_pdb() -> str:
    return bundle.load(_FOLDER, _package(), "safe_pdb", dense=False)


def safe_pdb() -> str:
    """Return a line for Ray's pdb, which prints nothing but its prompt if all went well (safe_pdb.py).

    It contains no `;;` and no `$`, which pdb would interpret.
    """
    return f"!{_safe_pdb()}.safe_pdb.override_joined()"


def read_result(text: object) -> Any:
    """Read the result of an expression: a `str`, a `list[int]` or a `list[str]`. Raise ResultError for anything else.

    `text` is the `result` of an evaluate, or the `message` of a failed one: debugpy before 1.8.22 returns results by
    failing (query_results.py). A worker is not trusted: `text` can have any type, length and depth.
    """
    if not isinstance(text, str):
        raise ResultError(f"expected a string, got {type(text).__name__}")
    try:
        # A string of JSON contains no line breaks, so a result without this prefix stays whole.
        result = json.loads(text.rpartition("\nRaydapResult: ")[2])
    except (ValueError, RecursionError, MemoryError) as error:
        raise ResultError(f"not JSON: {type(error).__name__}") from None
    kinds = {type(item) for item in result} if isinstance(result, list) else set()
    if isinstance(result, str) or (isinstance(result, list) and (kinds <= {int} or kinds <= {str})):
        return result
    raise ResultError("expected a string, or a list of line numbers or paths")


def read_summary(text: object) -> str:
    """Return the JSON of a value's summary (value_summary.py). Raise ResultError for anything else.

    pydevd formats a text in a frame as Python does, with quotes.
    """
    if not isinstance(text, str) or len(text) > MAX_SUMMARY:
        raise ResultError("not a string, or too long")
    try:
        result = ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError) as error:
        raise ResultError(f"not a Python string: {type(error).__name__}") from None
    if not isinstance(result, str):
        raise ResultError("not a Python string")
    return result


def _answer(module: str, call: str) -> str:
    """Return an expression that answers with the result of a call of a function in this module."""
    return _value(f"raydap.{module}.{call}", module)


def _value(expression: str, module: str = "") -> str:
    """Return an expression that answers with the value of this one, in which `raydap` is the package."""
    return f"(lambda raydap: raydap.query_results.answer(lambda: {expression}))({_installed(module)})"
