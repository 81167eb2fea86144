"""Expressions that the core lets workers evaluate, and how their results are read.

The functions that these expressions call are in the other files of this package; they run in the worker. `enter` sends
the changes to pydevd (changes.py), and leaves one object in the worker, as the attribute `raydap` of pydevd's debugger
object. Later expressions call that object, or send functions of their own, which are dropped after the call. The object
is not a module, so nothing appears in the worker's sys.modules, and `leave` removes it.

All expressions but `summary` and those of breakpoints are for an `evaluate` without a frame and with the context
"clipboard", whose results pydevd does not shorten. Never use "repl": pydevd then replaces `sys.stdout`, and restores it
while other threads print (redirected_output.py). Expressions that change something evaluate to None, because older
debugpys print any other value of an evaluate; `read_result` reads the results of the others. Expressions for files do
not need `enter`.
"""

import ast
import base64
import functools
import importlib.util
import json
import marshal
import re
import zlib
from collections.abc import Iterable
from importlib import resources
from typing import Any, Literal

PART = 250_000
"""Characters in a part of a long text. JSON in JSON has at most 14 bytes for a character, and debugpy before 1.8.22
sends such results twice. The total stays below the limit of a message (message_limit.py)."""

MAX_SUMMARY = 16_000
"""Maximum length of a value's summary in characters. Its text of up to TEXT characters (value_summary.py) is escaped to
ASCII twice."""

_DEBUGGER = "__import__('pydevd').get_global_debugger()"

_OWN_RANK = (
    "lambda d=__import__('sys').modules.get('torch.distributed'): str(d.get_rank()) "
    "if d and d.is_available() and d.is_initialized() else names['os'].environ.get('RANK', '')"
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

OWN = ("(lambda names: ", "(lambda value, names: ", f"{_DEBUGGER}.raydap.")
"""The beginnings of all expressions except `enter`, which the user's code cannot delay."""


class ResultError(ValueError):
    """The text is not a result of one of the expressions."""


def _source(*modules: str) -> str:
    """Return the source of these modules as one text, without what a worker does not need.

    Left out are comments, docstrings, annotations of functions, imports from each other, and three of four spaces of
    each indentation.
    """
    return "\n".join(map(_module_source, modules))


@functools.cache
def _module_source(module: str) -> str:
    tree = ast.parse(resources.files(__package__).joinpath(f"{module}.py").read_text("utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            node.body = [statement for statement in node.body if not _is_left_out(statement)] or [ast.Pass()]
        if isinstance(node, ast.FunctionDef):
            node.returns = None
        elif isinstance(node, ast.arg):
            node.annotation = None
    text = ast.unparse(_JoinedStrings().visit(tree))
    return re.sub("^(?: {4})+", lambda indent: " " * (len(indent[0]) // 4), text, flags=re.MULTILINE)


class _JoinedStrings(ast.NodeTransformer):
    """A transformer that replaces f-strings with constants in their braces.

    Python 3.12 and newer unparse these with nested quotes, which older Pythons cannot parse.
    """

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
        self.generic_visit(node)
        values = [part.value for part in node.values if isinstance(part, ast.FormattedValue)]
        if not any(isinstance(inner, ast.Constant | ast.JoinedStr) for value in values for inner in ast.walk(value)):
            return node
        parts = [_formatted(part) if isinstance(part, ast.FormattedValue) else part for part in node.values]
        return ast.Call(ast.Attribute(ast.Constant(""), "join"), [ast.List(parts)], [])


def _formatted(part: ast.FormattedValue) -> ast.expr:
    function = {ord("s"): "str", ord("r"): "repr", ord("a"): "ascii"}.get(part.conversion)
    value = part.value if function is None else ast.Call(ast.Name(function), [part.value], [])
    return ast.Call(ast.Name("format"), [value, *([] if part.format_spec is None else [part.format_spec])], [])


def _is_left_out(node: ast.stmt) -> bool:
    if isinstance(node, ast.If) and isinstance(node.test, ast.Name):
        return node.test.id == "TYPE_CHECKING"
    if isinstance(node, ast.ImportFrom):
        return node.level > 0
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _packed(code: str, names: str = "{}") -> str:
    """Return an expression that runs `code`, compressed (6 KB instead of 16). Its names go into the mapping `names`."""
    return f"exec({_compressed(code.encode())}, {names})"


def _compiled(code: str) -> str:
    """Return an expression that runs `code`, and contains it both compiled and as text.

    A worker with raydap's version of Python need not compile it, which takes 9 ms (measured). So this is for long code
    that is sent to each worker once.
    """
    compiled = _compressed(marshal.dumps(compile(code, "<string>", "exec")))
    # base85 is shorter. Decoding it takes 2 ms more (measured), only in a worker with another Python.
    text = _compressed(code.encode(), "b85")
    same = f"__import__('importlib.util').util.MAGIC_NUMBER == {importlib.util.MAGIC_NUMBER!r}"
    return f"exec(__import__('marshal').loads({compiled}) if {same} else {text}, {{}})"


def _compressed(data: bytes, encoding: Literal["b64", "b85"] = "b64") -> str:
    """Return an expression for the data."""
    compressed = zlib.compress(data, 9)
    packed = base64.b64encode(compressed) if encoding == "b64" else base64.b85encode(compressed)
    return f"__import__('zlib').decompress(__import__('base64').{encoding}decode({packed!r}))"


_STACK_READER = ("file_queries", "thread_frames", "frame_locals", "safe_values", "stack_reader")
_LIBRARIES = ("array_numbers", "torch_numbers", "jax_numbers", "array_libraries")

_FUNCTIONS = {
    "stacks": (*_STACK_READER, "coroutines", "blocked_threads"),
    "waits": (*_STACK_READER, "coroutines", "lock_owners", "object_waits", "coroutine_waits", "thread_waits"),
    "running": (*_STACK_READER, "coroutines", "running_values"),
    "variables": (*_STACK_READER, "frame_variables"),
    "arrays": (*_LIBRARIES, "array_text", "array_values"),
    "summary": (*_LIBRARIES, "value_summary"),
    "hits": ("safe_values", "line_hits"),
}
"""The modules of the functions that an expression calls. Their text is made when it is first sent: making all of them
takes longer than everything else at raydap's start."""


@functools.cache
def _functions(name: str) -> str:
    """Return an expression that puts these functions into the mapping `names`."""
    return _packed(_source(*_FUNCTIONS[name]), "names")


@functools.cache
def _files() -> str:
    return _source("file_queries")


@functools.cache
def entering_code(tune: bool) -> str:
    """Return the program that `enter` runs in a worker."""
    changes = _source(
        *(
            "time_limits",
            "actor_threads",
            "thread_identity",
            "delayed_signals",
            "frame_locals",
            "thread_control",
            "message_limit",
        ),
        *("answers", "thread_frames", "stuck_adapter", "post_mortem", "redirected_output", "forked_children"),
        *("relisten", "resumed_frames", "traced_files", "changes"),
    )
    return f"{changes}\nChanges({_DEBUGGER}).enter({tune})"


@functools.cache
def enter(tune: bool) -> str:
    """Return the expression that makes the changes of changes.py, at each attach of a worker."""
    return _compiled(entering_code(tune))


def show_arrays() -> str:
    """Return the expression that shows large arrays by their numbers (array_values.py), without a result.

    It is evaluated once in each attached worker, before variables are listed.
    """
    return _with("arrays", f"{_DEBUGGER}.raydap.show_arrays(names['ArrayValues']())")


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


def blocked_threads(threads: Iterable[int], held: Iterable[int] = ()) -> str:
    """Return the expression for the threads that are to pause and have not stopped (blocked_threads.py).

    `threads` are the worker's own ids, none for all threads of the process; `held` are the ids of threads that are
    known to be stopped. The result is a `str` of JSON.
    """
    call = f"names['answer'](names['blocked_threads'], {_DEBUGGER}, {(*threads,)!r}, {(*held,)!r})"
    return _with("stacks", call)


def all_stacks() -> str:
    """Return the expression for the stacks of all threads (stack_reader.py). The result is a `str` of JSON."""
    return _with("stacks", "names['answer'](lambda: names['as_json'](names['read_stacks']()))")


def all_waits() -> str:
    """Return the expression for all stacks and what each thread waits for (thread_waits.py), a `str` of JSON."""
    return _with("waits", "names['answer'](lambda: names['as_json'](names['read_waits']()))")


def frame_variables(frames: Iterable[int]) -> str:
    """Return the expression for the variables of frames of stopped threads (frame_variables.py).

    `frames` are the worker's own ids. The result is a `str`, JSON of a list for each frame, whose variables have
    `name`, `value` and `type`.
    """
    call = f"names['answer'](names['frame_variables'], {_DEBUGGER}, {(*frames,)!r})"
    return _with("variables", call)


def running_value(expression: str, seconds: float) -> str:
    """Return the expression that evaluates `expression` where the user's code runs (running_values.py).

    The result is a `str`, JSON of the value's text. `seconds` is the time for the evaluation.
    """
    call = f"names['answer'](lambda: names['evaluate_running']({expression!r}, {seconds!r}))"
    return _with("running", call)


def job_folders() -> str:
    """Return the expression for a `list[str]`: the current directory, and the folders of `py_modules`."""
    return _query("names['job_folders']")


def own_rank() -> str:
    """Return the expression for the rank as a `str`: in torch.distributed, else RANK (of Ray Train), else ""."""
    return _query(_OWN_RANK)


def collectives() -> str:
    """Return the expression for the one of COLLECTIVES in whose groups the process is, or ""."""
    return _query(_COLLECTIVES)


def copies_of(path: str) -> str:
    """Return the expression for a `list[str]`: the file's copy in each of the folders of job_folders(), or ""."""
    return _query("names['copies_of']", path)


def source_text(path: str, start: int = 0) -> str:
    """Return the expression for a part of a file's text from `start` on, a `str`.

    Each part but the last has PART characters. There is no result for a file that cannot be read.
    """
    return _query("names['source_text']", path, start, PART)


def code_lines(path: str, first: int, last: int) -> str:
    """Return the expression for the sorted `list` of the lines from `first` to `last` that have code."""
    return _query("names['code_lines']", path, first, last)


def result_part(number: int, start: int) -> str:
    """Return the expression for a part, from `start` on, of a result that was too long (message_limit.py).

    `number` is the `raydapResult` of the answer. Each part but the last has PART characters. There is no result if
    another result was too long since then.
    """
    return _query(f"{_DEBUGGER}.raydap.limit.part", number, start, PART)


def summary(expression: str, seconds: float) -> str:
    """Return the expression that summarises the value of the user's expression (value_summary.py).

    It is for an evaluate in a frame with the context "watch": with "clipboard" an exception is a result like any other.
    `seconds` is the time for the numbers of arrays. `read_summary` reads the result.
    """
    # The line break ends a comment at the end of the expression.
    call = f"names['summary'](value, {seconds!r})"
    return f"(lambda value, names: {_functions('summary')} or {call})(({expression}\n), {{}})"


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
    """Return a call of a method of LineHits. It has no braces, because debugpy reads braces in a message."""
    texts = [repr(each).replace("{", r"\x7b").replace("}", r"\x7d") for each in (marker, expression)]
    made = f"(lambda names: {_functions('hits')} or names['line_hits']({_DEBUGGER}))(dict())"
    found = f"(vars({_DEBUGGER}).get('raydap_hits') or {made})"
    return f"{found}.{method}({number}, {', '.join(texts)}, globals(), locals())"


@functools.cache
def _safe_pdb() -> str:
    return _packed(f"{_source('safe_pdb')}\noverride_joined()")


def safe_pdb() -> str:
    """Return a line for Ray's pdb, which prints nothing but its prompt if all went well (safe_pdb.py)."""
    return f"!{_safe_pdb()}"


def read_result(text: object) -> Any:
    """Read the result of an expression: a `str`, a `list[int]` or a `list[str]`. Raise ResultError for anything else.

    `text` is the `result` of an evaluate, or the `message` of a failed one: debugpy before 1.8.22 returns results by
    failing (file_queries.py, answer). A worker is not trusted: `text` can have any type, length and depth.
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


def _with(functions: str, call: str) -> str:
    """Return a call of a function in `names`, which has these functions and is dropped after the call."""
    return f"(lambda names: {_functions(functions)} or {call})({{}})"


def _query(function: str, *arguments: str | int) -> str:
    """Return a call of a function of file_queries.py. `names` is dropped after the call."""
    call = f"names['answer']({function}, *{arguments!r})"
    return f"(lambda names: exec({_files()!r}, names) or {call})({{}})"
