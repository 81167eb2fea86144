"""The rule for tasks with a `breakpoint()` whose result is dropped, in a script that ends without waiting for them.

The rule reports a task only if all calls and statements that may run after it are known to return immediately.
"""

import ast
from collections.abc import Iterator

from raydap.lsp.analysis.findings import Edit, Fix, RuleFinding, TextSpan, span
from raydap.lsp.analysis.python_file import PythonFile
from raydap.lsp.analysis.scopes import Scope
from raydap.lsp.analysis.syntax import CallSite, ParsedFile
from raydap.lsp.rules.waiting import Script

RESULT_NOT_AWAITED = "result-not-awaited"


def check(file: PythonFile) -> Iterator[RuleFinding]:
    """Yield the findings of the rule `result-not-awaited`."""
    stopping = {_root(file.program, call.scope) for call, _ in file.workers.breakpoints()}
    if not stopping:
        return
    script: Script | None = None
    for call in file.program.calls:
        task = _task(file.program, call)
        if task is None or task not in stopping or file.workers.role(call.scope) is not None:
            continue
        # Only a file with such a call needs the pass over all its nodes.
        script = script or Script(file)
        if not _drops(script, call) or script.may_wait_after(call):
            continue
        text = (
            f"The script does not wait for the result of this task, and `{task.name}` has a breakpoint(). "
            "When the script ends, Ray ends its workers, so the breakpoint may never be reached."
        )
        yield RuleFinding(RESULT_NOT_AWAITED, span(call.node), text, _fixes(file, script, call, task))


def _root(program: ParsedFile, scope: Scope) -> Scope:
    """Return the outermost function around a scope; the scope itself if there is none."""
    functions = [one for one in scope.enclosing() if one.parent is not None and not one.is_class]
    return functions[-1] if functions else scope


def _task(program: ParsedFile, call: CallSite) -> Scope | None:
    """Return the function of this file that `f.remote(...)` or `f.options(...).remote(...)` starts; else None."""
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


def _drops(script: Script, call: CallSite) -> bool:
    """Return whether no code uses the result: it is not assigned, or assigned to a name that no code reads."""
    statement = call.statement
    if isinstance(statement, ast.Expr):
        return statement.value is call.node
    if isinstance(statement, ast.Assign) and statement.value is call.node and len(statement.targets) == 1:
        target = statement.targets[0]
        return isinstance(target, ast.Name) and target.id not in script.read
    return False


def _fixes(file: PythonFile, script: Script, call: CallSite, task: Scope) -> tuple[Fix, ...]:
    """Return the fix that adds `ray.get`.

    Return no fix if the task may have several results, or may need a task that is started later.
    """
    bindings = file.program.bindings("ray", call.scope)
    if bindings is None or any(one != "ray" for one in bindings):
        return ()
    if not script.is_last_start(call) or _may_have_more_results(file, call, task):
        return ()
    place = span(call.node)
    start = TextSpan(place.line, place.column, place.line, place.column)
    end = TextSpan(place.end_line, place.end_column, place.end_line, place.end_column)
    return (Fix("Wait for the result with ray.get", (Edit(start, "ray.get("), Edit(end, ")"))),)


def _may_have_more_results(file: PythonFile, call: CallSite, task: Scope) -> bool:
    """Return whether the task is a generator, or may have the option `num_returns`."""
    if not isinstance(task.node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return True
    if any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in ast.walk(task.node)):
        return True
    calls = [*task.node.decorator_list, *ast.walk(call.node.func)]
    keywords = [keyword.arg for one in calls if isinstance(one, ast.Call) for keyword in one.keywords]
    return None in keywords or "num_returns" in keywords
