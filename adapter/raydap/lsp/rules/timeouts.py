"""Time limits that end while a worker is stopped. They matter only in a file whose workers stop at a breakpoint()."""

import ast
from collections.abc import Iterator

from raydap.lsp.analysis.findings import Finding, Fix, span
from raydap.lsp.analysis.python_file import PythonFile
from raydap.lsp.analysis.syntax import Call, Scope
from raydap.lsp.rules.call_arguments import remove_argument

TIMEOUT_WHILE_STOPPED = "timeout-while-stopped"

LONG_S = 3600.0
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
                if keyword.arg == argument and is_short(file, keyword.value, call.scope):
                    text = f"While a worker is stopped at its breakpoint() (line {line}), this time goes on: {effect}."
                    fixes = () if catches or call.name != "ray.get" else _without(file, call, keyword)
                    yield Finding(TIMEOUT_WHILE_STOPPED, span(keyword), text, fixes)
        elif isinstance(call.node.func, ast.Attribute) and call.node.func.attr == "result":
            for keyword in call.node.keywords:
                if keyword.arg == "timeout_s" and is_short(file, keyword.value, call.scope):
                    text = f"While the deployment is stopped at its breakpoint() (line {line}), this time goes on."
                    fixes = () if catches else _without(file, call, keyword)
                    yield Finding(TIMEOUT_WHILE_STOPPED, span(keyword), text, fixes)


def _without(file: PythonFile, call: Call, keyword: ast.keyword) -> tuple[Fix, ...]:
    """Return the fix that removes the limit. A program that may catch its error needs the limit."""
    edit = None if call.tries else remove_argument(file, call.node, keyword)
    return () if edit is None else (Fix(f"Remove {keyword.arg}", (edit,)),)


def is_short(file: PythonFile, value: ast.expr, scope: Scope) -> bool:
    """Return whether a time limit is a number of seconds, or a timedelta of numbers, below an hour."""
    seconds = _seconds(file, file.program.value(value, scope), scope)
    return seconds is not None and 0 < seconds < LONG_S


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
