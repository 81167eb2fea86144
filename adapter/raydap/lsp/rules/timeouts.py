"""The rule for time limits that expire while a worker is stopped, in files whose workers stop at a `breakpoint()`."""

import ast
from collections.abc import Iterator

from raydap.analysis.ray_settings import LONG_S, TIME_LIMITS
from raydap.lsp.analysis.findings import Fix, RuleFinding, span
from raydap.lsp.analysis.python_file import PythonFile
from raydap.lsp.analysis.scopes import Scope
from raydap.lsp.analysis.syntax import CallSite
from raydap.lsp.rules.call_arguments import remove_argument

TIMEOUT_WHILE_STOPPED = "timeout-while-stopped"

_LIMITS = {limit.function: limit for limit in TIME_LIMITS if limit.function}


def check(file: PythonFile) -> Iterator[RuleFinding]:
    """Yield the findings of the rule `timeout-while-stopped`."""
    stops = list(file.workers.breakpoints())
    if not stops:
        return
    catches = any(b"TimeoutError" in line for line in file.lines)
    line = min(call.node.lineno for call, _ in stops)
    for call in file.program.calls:
        if call.name in _LIMITS:
            limit = _LIMITS[call.name]
            text = (
                f"While a worker is stopped at its breakpoint() (line {line}), this time limit keeps running: "
                f"{limit.effect.replace('`', '')}."
            )
            given = _positional(call.node, limit.position)
            if given is not None and is_short(file, given, call.scope, limit.unit_s):
                yield RuleFinding(TIMEOUT_WHILE_STOPPED, span(given), text)
            for keyword in call.node.keywords:
                if keyword.arg == limit.argument and is_short(file, keyword.value, call.scope, limit.unit_s):
                    fixes = () if catches or call.name != "ray.get" else _without(file, call, keyword)
                    yield RuleFinding(TIMEOUT_WHILE_STOPPED, span(keyword), text, fixes)
        elif isinstance(call.node.func, ast.Attribute) and call.node.func.attr == "result":
            for keyword in call.node.keywords:
                if keyword.arg == "timeout_s" and is_short(file, keyword.value, call.scope):
                    text = (
                        f"While the deployment is stopped at its breakpoint() (line {line}), this limit keeps running."
                    )
                    fixes = () if catches else _without(file, call, keyword)
                    yield RuleFinding(TIMEOUT_WHILE_STOPPED, span(keyword), text, fixes)


def _positional(call: ast.Call, position: int | None) -> ast.expr | None:
    """Return the argument at a position; None without one, or if a `*arguments` makes its position uncertain."""
    if position is None or len(call.args) <= position:
        return None
    is_sure = not any(isinstance(argument, ast.Starred) for argument in call.args[: position + 1])
    return call.args[position] if is_sure else None


def _without(file: PythonFile, call: CallSite, keyword: ast.keyword) -> tuple[Fix, ...]:
    """Return the fix that removes the limit; none in a `try`, because the program may need the limit's exception."""
    edit = None if call.tries else remove_argument(file, call.node, keyword)
    return () if edit is None else (Fix(f"Remove {keyword.arg}", (edit,)),)


def is_short(file: PythonFile, value: ast.expr, scope: Scope, unit_s: float = 1.0) -> bool:
    """Return whether a time limit is known and below an hour. `unit_s` is the unit of a plain number, in seconds."""
    seconds = _seconds(file, file.program.value(value, scope), scope, unit_s)
    return seconds is not None and 0 < seconds < LONG_S


def _seconds(file: PythonFile, value: ast.expr, scope: Scope, unit_s: float) -> float | None:
    """Return the seconds that a number, in units of `unit_s`, or a timedelta of numbers stands for; else None."""
    if isinstance(value, ast.Constant) and isinstance(value.value, (int, float)) and not isinstance(value.value, bool):
        return float(value.value) * unit_s
    if isinstance(value, ast.Call) and file.program.dotted(value.func, scope) == "datetime.timedelta":
        units = {"seconds": 1.0, "minutes": 60.0, "hours": 3600.0, "days": 86400.0, "milliseconds": 0.001}
        total = 0.0
        for keyword in value.keywords:
            amount = _seconds(file, keyword.value, scope, 1.0)
            if keyword.arg not in units or amount is None:
                return None
            total += amount * units[keyword.arg]
        return total if value.keywords and not value.args else None
    return None
