"""Tasks with a breakpoint() whose result nobody waits for, in a script that ends."""

import ast
from collections.abc import Iterable, Iterator

from raydap.lsp.analysis.findings import Edit, Finding, Fix, Span, span
from raydap.lsp.analysis.python_file import PythonFile
from raydap.lsp.analysis.syntax import Call, Program, Scope

RESULT_NOT_AWAITED = "result-not-awaited"

_WAITING = {
    "asyncio.run",
    "builtins.breakpoint",
    "builtins.input",
    "ray.get",
    "ray.serve.run",
    "ray.wait",
    "signal.pause",
    "time.sleep",
}
"""A script that calls one of them later may live long enough. So may one that waits in a way that is not seen here."""

_WAITING_METHODS = {"get", "join", "result", "run", "run_forever", "run_until_complete", "sleep", "wait"}


def check(file: PythonFile) -> Iterator[Finding]:
    stopping = {_root(file.program, call.scope) for call, _ in file.workers.breakpoints()}
    if not stopping:
        return
    script: _Script | None = None
    for call in file.program.calls:
        task = _task(file.program, call)
        if task is None or task not in stopping or file.workers.role(call.scope) is not None:
            continue
        # A file without such calls is not read through for it.
        script = script or _Script(file)
        if not script.drops(call) or script.waits_later(call):
            continue
        text = (
            f"Nobody waits for the result of this task, and `{task.name}` has a breakpoint(). "
            "When the script ends, Ray ends its workers, so the breakpoint may never be reached."
        )
        yield Finding(RESULT_NOT_AWAITED, span(call.node), text, _fixes(file.program, call))


def _root(program: Program, scope: Scope) -> Scope:
    """The outermost function around a scope."""
    functions = [one for one in scope.enclosing() if one.parent is not None and not one.is_class]
    return functions[-1] if functions else scope


def _task(program: Program, call: Call) -> Scope | None:
    """The function of this file that `f.remote(...)` or `f.options(...).remote(...)` starts as a task."""
    function = call.node.func
    if not isinstance(function, ast.Attribute) or function.attr != "remote":
        return None
    started = function.value
    if isinstance(started, ast.Call) and isinstance(started.func, ast.Attribute) and started.func.attr == "options":
        started = started.func.value
    started = program.value(started, call.scope)
    if isinstance(started, ast.Call):
        # g = ray.remote(f)
        wrapped = started.args[:1] if program.dotted(started.func, call.scope) == "ray.remote" else []
        started = wrapped[0] if wrapped else started
    found = program.definition(started, call.scope)
    return None if found is None or found.is_class else found


class _Script:
    """The facts of a whole file that the rule needs for each call. One pass gathers them: there may be thousands of
    calls."""

    def __init__(self, file: PythonFile) -> None:
        program = self._program = file.program
        assert isinstance(program.module.node, ast.Module)
        self._read: set[str] = set()
        self._may_wait = False
        loops = []
        for node in ast.walk(program.module.node):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                self._read.add(node.id)
            elif isinstance(node, (ast.While, ast.Await)):
                self._may_wait = True
            elif isinstance(node, (ast.For, ast.AsyncFor)):
                loops.append((node.lineno, node.end_lineno or node.lineno))
        self._looped = _lines(loops)
        self._is_main = any(
            isinstance(statement, ast.If) and "__main__" in ast.dump(statement.test)
            for statement in program.module.node.body
        )
        self._last_wait = max((call.node.lineno for call in program.calls if _waits(file, call)), default=0)

    def drops(self, call: Call) -> bool:
        """Return whether the result is the value of a statement, or of a name that nothing reads."""
        statement = call.statement
        if isinstance(statement, ast.Expr):
            return statement.value is call.node
        if isinstance(statement, ast.Assign) and statement.value is call.node and len(statement.targets) == 1:
            target = statement.targets[0]
            return isinstance(target, ast.Name) and target.id not in self._read
        return False

    def waits_later(self, call: Call) -> bool:
        """Return whether the script may wait after the call. Only a script that ends by itself right away is reported.

        A function is judged with the whole file: who calls it may wait.
        """
        if self._may_wait or not (call.scope is self._program.module or self._is_main):
            # A module without a top-level `if __name__ == "__main__"` is a script only if the call is at its top level.
            return True
        in_function = any(not scope.is_class and scope.parent is not None for scope in call.scope.enclosing())
        if in_function or call.node.lineno in self._looped:
            return self._last_wait > 0
        return self._last_wait >= call.node.lineno


def _waits(file: PythonFile, call: Call) -> bool:
    method = call.node.func.attr if isinstance(call.node.func, ast.Attribute) else ""
    return (call.name in _WAITING or method in _WAITING_METHODS) and file.workers.role(call.scope) is None


def _lines(ranges: Iterable[tuple[int, int]]) -> set[int]:
    """Return the lines in any of the ranges. Nested ranges are read once."""
    lines: set[int] = set()
    last = 0
    for first, end in sorted(ranges):
        lines.update(range(max(first, last + 1), end + 1))
        last = max(last, end)
    return lines


def _fixes(program: Program, call: Call) -> tuple[Fix, ...]:
    bindings = program.bindings("ray", call.scope)
    if bindings is None or any(one != "ray" for one in bindings):
        return ()
    place = span(call.node)
    start = Span(place.line, place.column, place.line, place.column)
    end = Span(place.end_line, place.end_column, place.end_line, place.end_column)
    return (Fix("Wait for the result with ray.get", (Edit(start, "ray.get("), Edit(end, ")"))),)
