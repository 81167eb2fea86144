"""Time limits that end while a worker is stopped. They matter only in a file whose workers stop at a breakpoint()."""

import ast
from collections.abc import Iterator

from raydap.lsp.analysis.findings import Edit, Finding, Fix, Span, span
from raydap.lsp.analysis.python_file import PythonFile
from raydap.lsp.analysis.syntax import Call, Scope
from raydap.lsp.analysis.worker_code import SERVE
from raydap.lsp.rules.call_arguments import argument_spans, remove_argument

TIMEOUT_WHILE_STOPPED = "timeout-while-stopped"
HEALTH_CHECK_WHILE_STOPPED = "health-check-while-stopped"

_LONG_S = 3600.0
"""A time limit from here on is one that somebody has raised for debugging."""

_LIMITS = {
    "ray.get": ("timeout", "ray.get raises GetTimeoutError"),
    "torch.distributed.init_process_group": ("timeout", "the other workers of the group fail"),
    "ray.util.collective.init_collective_group": ("gloo_timeout", "the other workers of the group fail"),
    "ray.train.torch.TorchConfig": ("timeout_s", "the other workers of the group fail"),
    "asyncio.wait_for": ("timeout", "it raises TimeoutError"),
    "ray.serve.config.HTTPOptions": ("request_timeout_s", "Serve ends the request"),
}
"""The argument of each function that limits a time, and what happens at its end."""

_HEALTH_CHECK = "health_check_timeout_s"


def check(file: PythonFile) -> Iterator[Finding]:
    stops = list(file.workers.breakpoints())
    if not stops:
        return
    catches = any(b"TimeoutError" in line for line in file.lines)
    line = min(call.node.lineno for call, _ in stops)
    for call in file.program.calls:
        if call.name in _LIMITS:
            argument, effect = _LIMITS[call.name]
            for keyword in call.node.keywords:
                if keyword.arg == argument and _is_short(file, keyword.value, call.scope):
                    text = f"While a worker is stopped at its breakpoint() (line {line}), this time goes on: {effect}."
                    fixes = () if catches or call.name != "ray.get" else _without(file, call, keyword)
                    yield Finding(TIMEOUT_WHILE_STOPPED, span(keyword), text, fixes)
        elif isinstance(call.node.func, ast.Attribute) and call.node.func.attr == "result":
            for keyword in call.node.keywords:
                if keyword.arg == "timeout_s" and _is_short(file, keyword.value, call.scope):
                    text = f"While the deployment is stopped at its breakpoint() (line {line}), this time goes on."
                    fixes = () if catches else _without(file, call, keyword)
                    yield Finding(TIMEOUT_WHILE_STOPPED, span(keyword), text, fixes)
    yield from _health_checks(file, [call for call, role in stops if role.kind == SERVE])


def _without(file: PythonFile, call: Call, keyword: ast.keyword) -> tuple[Fix, ...]:
    """Return the fix that removes the limit. A program that may catch its error needs the limit."""
    edit = None if call.tries else remove_argument(file, call.node, keyword)
    return () if edit is None else (Fix(f"Remove {keyword.arg}", (edit,)),)


def _is_short(file: PythonFile, value: ast.expr, scope: Scope) -> bool:
    """Whether it is a number of seconds, or a timedelta of numbers, below an hour."""
    seconds = _seconds(file, file.program.value(value, scope), scope)
    return seconds is not None and 0 < seconds < _LONG_S


def _seconds(file: PythonFile, value: ast.expr, scope: Scope) -> float | None:
    if isinstance(value, ast.Constant) and isinstance(value.value, (int, float)) and not isinstance(value.value, bool):
        return float(value.value)
    if isinstance(value, ast.Call) and file.program.dotted(value.func, scope) == "datetime.timedelta":
        units = {"seconds": 1.0, "minutes": 60.0, "hours": 3600.0, "days": 86400.0, "milliseconds": 0.001}
        total = 0.0
        for keyword in value.keywords:
            amount = _seconds(file, keyword.value, scope)
            if keyword.arg not in units or amount is None:
                return None
            total += amount * units[keyword.arg]
        return total if value.keywords and not value.args else None
    return None


def _health_checks(file: PythonFile, stops: list[Call]) -> Iterator[Finding]:
    """Serve ends a replica that does not answer for `health_check_timeout_s`, 30 s if the deployment says nothing."""
    for call in stops:
        decorator = _deployment(file, call.scope)
        if decorator is None:
            continue
        limit = None
        if isinstance(decorator, ast.Call):
            if any(keyword.arg is None for keyword in decorator.keywords):
                continue
            limit = next((one for one in decorator.keywords if one.arg == _HEALTH_CHECK), None)
        if limit is not None and not _is_short(file, limit.value, call.scope):
            continue
        text = (
            "Serve takes a replica that is stopped for a dead one, and ends it after its health_check_timeout_s "
            "(30 if it is not set). Set a longer one while you debug."
        )
        yield Finding(HEALTH_CHECK_WHILE_STOPPED, span(call.node), text, _longer(decorator, limit))


def _deployment(file: PythonFile, scope: Scope) -> ast.expr | None:
    """The decorator that makes the class or function around a scope a deployment."""
    for place in scope.enclosing():
        node = place.node
        if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and place.parent is not None:
            for decorator in node.decorator_list:
                function = decorator.func if isinstance(decorator, ast.Call) else decorator
                if file.program.dotted(function, place.parent) == "ray.serve.deployment":
                    return decorator
    return None


def _longer(decorator: ast.expr, limit: ast.keyword | None) -> tuple[Fix, ...]:
    value = f"{_HEALTH_CHECK}={_LONG_S:g}"
    if limit is not None:
        edit = Edit(span(limit), value)
    else:
        place = span(decorator)
        if not isinstance(decorator, ast.Call):
            edit = Edit(Span(place.end_line, place.end_column, place.end_line, place.end_column), f"({value})")
        else:
            arguments = argument_spans(decorator)
            if arguments:
                last = arguments[-1]
                edit = Edit(Span(last.end_line, last.end_column, last.end_line, last.end_column), f", {value}")
            else:
                edit = Edit(Span(place.end_line, place.end_column - 1, place.end_line, place.end_column - 1), value)
    return (Fix(f"Set {_HEALTH_CHECK} to an hour", (edit,)),)
