"""Tasks with a breakpoint() whose result nobody waits for, in a script that ends."""

import ast
from collections.abc import Iterator

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
    for call in file.program.calls:
        task = _task(file.program, call)
        if task is None or task not in stopping or file.workers.role(call.scope) is not None:
            continue
        if not _is_dropped(file.program, call) or _waits_later(file, call):
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


def _is_dropped(program: Program, call: Call) -> bool:
    """Whether the result is the value of a statement, or of a name that nothing reads."""
    statement = call.statement
    if isinstance(statement, ast.Expr):
        return statement.value is call.node
    if isinstance(statement, ast.Assign) and statement.value is call.node and len(statement.targets) == 1:
        target = statement.targets[0]
        return isinstance(target, ast.Name) and not _is_read(program, target.id)
    return False


def _is_read(program: Program, name: str) -> bool:
    return any(
        isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
        for node in ast.walk(program.module.node)
    )


def _waits_later(file: PythonFile, call: Call) -> bool:
    """Whether the script may wait after the call. Only a script that ends by itself right away is spoken of.

    A function is judged with the whole file: who calls it may wait.
    """
    program = file.program
    in_function = any(not scope.is_class and scope.parent is not None for scope in call.scope.enclosing())
    for other in program.calls:
        if other.node.lineno < call.node.lineno and not in_function and not _is_looped(program, call):
            continue
        if file.workers.role(other.scope) is not None:
            continue
        method = other.node.func.attr if isinstance(other.node.func, ast.Attribute) else ""
        if other.name in _WAITING or method in _WAITING_METHODS:
            return True
    return any(isinstance(node, (ast.While, ast.Await)) for node in ast.walk(program.module.node)) or not _is_script(
        program, call
    )


def _is_looped(program: Program, call: Call) -> bool:
    return any(
        isinstance(node, (ast.For, ast.AsyncFor)) and node.lineno <= call.node.lineno <= (node.end_lineno or 0)
        for node in ast.walk(program.module.node)
    )


def _is_script(program: Program, call: Call) -> bool:
    """A module without a top-level `if __name__ == "__main__"` is one only if the call is at its top level."""
    if call.scope is program.module:
        return True
    assert isinstance(program.module.node, ast.Module)
    return any(
        isinstance(statement, ast.If) and "__main__" in ast.dump(statement.test)
        for statement in program.module.node.body
    )


def _fixes(program: Program, call: Call) -> tuple[Fix, ...]:
    bindings = program.bindings("ray", call.scope)
    if bindings is None or any(one != "ray" for one in bindings):
        return ()
    place = span(call.node)
    start = Span(place.line, place.column, place.line, place.column)
    end = Span(place.end_line, place.end_column, place.end_line, place.end_column)
    return (Fix("Wait for the result with ray.get", (Edit(start, "ray.get("), Edit(end, ")"))),)
