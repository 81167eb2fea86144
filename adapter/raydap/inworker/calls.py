"""Expressions that the core lets workers evaluate, and how their results are read.

The functions themselves are in the other files of this package; they run in the worker. `enter` sends all of them but
file_queries.py, and leaves one object in the worker, `raydap`, as an attribute of pydevd's debugger object; later
expressions are calls of that object. It is no module, so nothing appears in the worker's sys.modules, and `leave` takes
it away again.

All expressions but `summary` and those of breakpoints are for `evaluate` without a frame, and with the context
"clipboard", whose results pydevd does not shorten. Never use "repl": pydevd then puts another `sys.stdout` in place,
and takes it away while other threads print (redirected_output.py). Those that change something give None, because older
debugpys print whatever else an evaluate gives; `read_result` reads what the others give. Those for files do not need
`enter`.
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
"""Characters in a part of a long text. JSON in JSON has at most 14 bytes for one, and debugpy before 1.8.22 sends such
results twice; that is less than a message may have (message_limit.py)."""

MAX_SUMMARY = 16_000
"""Characters of what is said of a value: a text of TEXT characters is twice written as ASCII."""

_DEBUGGER = "__import__('pydevd').get_global_debugger()"

_OWN_RANK = (
    "lambda d=__import__('sys').modules.get('torch.distributed'): str(d.get_rank()) "
    "if d and d.is_available() and d.is_initialized() else names['os'].environ.get('RANK', '')"
)


COLLECTIVES = ("torch.distributed", "ray.util.collective")

_COLLECTIVES = (
    "lambda m=__import__('sys').modules, d=__import__('sys').modules.get('torch.distributed'): "
    f"{COLLECTIVES[0]!r} if d and d.is_available() and d.is_initialized() and d.get_world_size() > 1 else "
    f"{COLLECTIVES[1]!r} if getattr(getattr(m.get('ray.util.collective.collective'), '_group_mgr', None), "
    "'_name_group_map', None) else ''"
)
"""Ray keeps its groups there (ray/util/collective/collective.py, GroupManager)."""

OWN = ("(lambda names: ", "(lambda value, names: ", f"{_DEBUGGER}.raydap.")
"""How all expressions begin but `enter`, which no code of the user's can delay."""


class ResultError(ValueError):
    """The text is not a result of one of the expressions."""


def _source(*modules: str) -> str:
    """The source of these modules as one text, without what a worker does not need.

    Left out are comments, docstrings, annotations of functions, what they import from each other, and three of four
    spaces of each indentation.
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
    """Replaces f-strings with texts in their braces. Python 3.12 and newer write these with quotes inside of quotes,
    which older Pythons cannot read."""

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
    """Runs `code`, whose names go into a mapping. It is compressed, because it is long: 6 KB instead of 16."""
    return f"exec({_compressed(code.encode())}, {names})"


def _compiled(code: str) -> str:
    """Runs `code`, which is there twice: a worker with raydap's version of Python need not compile it. That takes 9 ms
    (measured), so it is for what is long and sent to each worker once."""
    compiled = _compressed(marshal.dumps(compile(code, "<string>", "exec")))
    # base85 is shorter. Reading it takes 2 ms more (measured), in a worker with another Python only.
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
takes longer than all else that raydap does when it starts."""


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
    """At attach; once more in a worker that is attached again. changes.py lists the changes."""
    return _compiled(entering_code(tune))


def show_arrays() -> str:
    """Before variables are listed, once in each attached worker (array_values.py). There is no result."""
    return _with("arrays", f"{_DEBUGGER}.raydap.show_arrays(names['ArrayValues']())")


def leave(tune: bool) -> str:
    """Before `disconnect`, with the `tune` of `enter`: undoes its changes, but for one (relisten.py), and those of
    `show_arrays`."""
    return f"{_DEBUGGER}.raydap.leave({tune})"


def resume_thread(thread: int) -> str:
    """With the worker's own id of a stopped thread. Fails where `enter` has failed."""
    return f"{_DEBUGGER}.raydap.threads.resume({thread})"


def resume_step(thread: int) -> str:
    """Like `resume_thread`. At a stop for an exception, a step that it has interrupted goes on."""
    return f"{_DEBUGGER}.raydap.threads.resume_step({thread})"


def resume_unseen(thread: int) -> str:
    """Like `resume_thread`, for a stop without frames. A thread that has frames by now stays stopped."""
    return f"{_DEBUGGER}.raydap.threads.resume_unseen({thread})"


def pause_thread(thread: int) -> str:
    """With the worker's own id of a thread."""
    return f"{_DEBUGGER}.raydap.threads.pause({thread})"


def blocked_threads(threads: Iterable[int], held: Iterable[int] = ()) -> str:
    """With the worker's own ids of threads that are to pause, none for all of the process, and of those that are known
    to be stopped. The result is a `str`, JSON of the threads that have not stopped (blocked_threads.py)."""
    call = f"names['answer'](names['blocked_threads'], {_DEBUGGER}, {(*threads,)!r}, {(*held,)!r})"
    return _with("stacks", call)


def all_stacks() -> str:
    """The result is a `str`, JSON of the stacks of all threads (stack_reader.py)."""
    return _with("stacks", "names['answer'](lambda: names['as_json'](names['read_stacks']()))")


def all_waits() -> str:
    """The same, and what each thread waits for (thread_waits.py)."""
    return _with("waits", "names['answer'](lambda: names['as_json'](names['read_waits']()))")


def frame_variables(frames: Iterable[int]) -> str:
    """With the worker's own ids of frames of stopped threads. The result is a `str`, JSON of a list for each
    of them: its variables, each with `name`, `value` and `type` (frame_variables.py)."""
    call = f"names['answer'](names['frame_variables'], {_DEBUGGER}, {(*frames,)!r})"
    return _with("variables", call)


def running_value(expression: str, seconds: float) -> str:
    """With an expression that is evaluated in the user's code where it runs. The result is a `str`, JSON of the value's
    text (running_values.py); `seconds` is the time for it."""
    call = f"names['answer'](lambda: names['evaluate_running']({expression!r}, {seconds!r}))"
    return _with("running", call)


def job_folders() -> str:
    """The result is a `list[str]`: the current directory, and the folders of `py_modules`."""
    return _query("names['job_folders']")


def own_rank() -> str:
    """The result is a `str`: the rank of the process in torch.distributed, if it uses that, else RANK, which Ray Train
    sets; "" without both."""
    return _query(_OWN_RANK)


def collectives() -> str:
    """The result is a `str`, the one of COLLECTIVES in whose groups the process is; "" if it is in none."""
    return _query(_COLLECTIVES)


def copies_of(path: str) -> str:
    """The result is a `list[str]`: for each of the folders of job_folders() its copy of the file, "" without one."""
    return _query("names['copies_of']", path)


def source_text(path: str, start: int = 0) -> str:
    """The result is a part of the file's text as a `str`, with PART characters but for the last part;
    there is none for a file that cannot be read."""
    return _query("names['source_text']", path, start, PART)


def code_lines(path: str, first: int, last: int) -> str:
    """The result is the sorted `list` of the line numbers from `first` to `last` that have code."""
    return _query("names['code_lines']", path, first, last)


def result_part(number: int, start: int) -> str:
    """With what `raydapResult` has for a result that was too long (message_limit.py). The result is a
    part of that as a `str`, with PART characters but for the last part; there is none if another result was too long
    meanwhile."""
    return _query(f"{_DEBUGGER}.raydap.limit.part", number, start, PART)


def summary(expression: str, seconds: float) -> str:
    """For an evaluate in a frame, with the context "watch": with "clipboard" an exception is a result like any other.
    The user's expression is evaluated there. `seconds` is the time for the numbers of arrays. `read_summary` reads the
    result."""
    # A line break ends a comment in the expression.
    call = f"names['summary'](value, {seconds!r})"
    return f"(lambda value, names: {_functions('summary')} or {call})(({expression}\n), {{}})"


def stops_at_hit(number: int, marker: str, condition: str) -> str:
    """For the condition of a breakpoint. It stops few of many hits, and the worker counts all of them; it tells them in
    output events, between two markers (line_hits.py). `condition` is the user's own, "" for none; `number` is by what
    raydap knows the line."""
    return _hit("stops", number, marker, condition)


def hit_message(number: int, marker: str, expression: str) -> str:
    """For the message of a logpoint. It is the values of the user's expression since the last one, or empty."""
    return f"{{{_hit('message', number, marker, expression)}}}"


def _hit(method: str, number: int, marker: str, expression: str) -> str:
    """debugpy reads braces in a message, so there are none in this."""
    texts = [repr(each).replace("{", r"\x7b").replace("}", r"\x7d") for each in (marker, expression)]
    made = f"(lambda names: {_functions('hits')} or names['line_hits']({_DEBUGGER}))(dict())"
    found = f"(vars({_DEBUGGER}).get('raydap_hits') or {made})"
    return f"{found}.{method}({number}, {', '.join(texts)}, globals(), locals())"


@functools.cache
def _safe_pdb() -> str:
    return _packed(f"{_source('safe_pdb')}\noverride_joined()")


def safe_pdb() -> str:
    """A line for Ray's pdb, which answers nothing but its prompt if all went well (safe_pdb.py)."""
    return f"!{_safe_pdb()}"


def read_result(text: object) -> Any:
    """Read the result of an expression: a `str`, a `list[int]` or a `list[str]`. Raises ResultError for anything else.

    `text` is the `result` of an evaluate, or the `message` of one that failed: debugpy before 1.8.22 gives results by
    failing (file_queries.py, answer). A worker is not trusted: `text` can be of any type, of any length and nested as
    deeply as it likes.
    """
    if not isinstance(text, str):
        raise ResultError(f"not a text but {type(text).__name__}")
    try:
        # JSON has no line breaks inside a string, so this finds nothing in a result that stands alone.
        result = json.loads(text.rpartition("\nRaydapResult: ")[2])
    except (ValueError, RecursionError, MemoryError) as error:
        raise ResultError(f"not JSON: {type(error).__name__}") from None
    kinds = {type(item) for item in result} if isinstance(result, list) else set()
    if isinstance(result, str) or (isinstance(result, list) and (kinds <= {int} or kinds <= {str})):
        return result
    raise ResultError("neither a text nor a list of line numbers or paths")


def read_summary(text: object) -> str:
    """JSON of what is said of a value (value_summary.py). Raises ResultError for what `summary` cannot have given;
    pydevd writes a text in a frame as Python does."""
    if not isinstance(text, str) or len(text) > MAX_SUMMARY:
        raise ResultError("not a short text")
    try:
        result = ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError) as error:
        raise ResultError(f"not a text of Python: {type(error).__name__}") from None
    if not isinstance(result, str):
        raise ResultError("not a text of Python")
    return result


def _with(functions: str, call: str) -> str:
    """Call a function of `names`, which has these functions and is gone with the call."""
    return f"(lambda names: {_functions(functions)} or {call})({{}})"


def _query(function: str, *arguments: str | int) -> str:
    """Calls a function. `names`, which is gone with the call, has those of file_queries.py."""
    call = f"names['answer']({function}, *{arguments!r})"
    return f"(lambda names: exec({_files()!r}, names) or {call})({{}})"
