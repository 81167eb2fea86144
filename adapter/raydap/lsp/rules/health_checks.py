"""The rule for stops in Serve deployments that make Serve end the replica.

A stop in an `async` function blocks the event loop of the replica's code. Serve runs other functions in threads, and
`__init__` before the first health check, so a stop there is harmless (measured with Ray 2.60).
"""

import ast
from collections.abc import Iterator
from typing import NamedTuple

from raydap.analysis.ray_settings import LONG_S, PROBES
from raydap.lsp.analysis.findings import Edit, Fix, RuleFinding, TextSpan, span
from raydap.lsp.analysis.python_file import PythonFile
from raydap.lsp.analysis.scopes import Scope
from raydap.lsp.analysis.syntax import DECORATED
from raydap.lsp.analysis.worker_code import DEPLOYMENTS, SERVE
from raydap.lsp.rules.call_arguments import argument_spans, text_between
from raydap.lsp.rules.timeouts import is_short

HEALTH_CHECK_WHILE_STOPPED = "health-check-while-stopped"

_TIMEOUT = "health_check_timeout_s"
_OPTIONS = "ray_actor_options"

_NO_PROBES = f'{_OPTIONS}={{"runtime_env": {{"env_vars": {{"{PROBES.setting}": "0"}}}}}}'


class _Deployment(NamedTuple):
    """A deployment of the file."""

    made_by: ast.expr
    """The call of `serve.deployment`, or its name if it is a decorator without a call."""
    checks_health: bool | None
    """Whether the deployment has a method `check_health`; None if a base class is not in the file."""


def check(file: PythonFile) -> Iterator[RuleFinding]:
    """Yield the findings of the rule `health-check-while-stopped`."""
    stops = [call for call, role in file.workers.breakpoints() if role.kind == SERVE and _holds_loop(call.scope)]
    if not stops:
        return
    deployments = _deployments(file)
    probes = any(PROBES.setting.encode() in line for line in file.lines)
    for call in stops:
        deployment = next((deployments[one] for one in call.scope.enclosing() if one in deployments), None)
        if deployment is None:
            continue
        keywords = deployment.made_by.keywords if isinstance(deployment.made_by, ast.Call) else []
        given = {keyword.arg: keyword for keyword in keywords}
        if None in given:
            # A `**options` may set the limit.
            continue
        limit = given.get(_TIMEOUT)
        if deployment.checks_health:
            if limit is not None and not is_short(file, limit.value, call.scope):
                continue
            text = (
                "A stop in an async method blocks check_health, so Serve ends the replica after three "
                f"times {_TIMEOUT} (default: 30). Increase it while you debug."
            )
            fix = _with(file, deployment.made_by, f"{_TIMEOUT}={LONG_S:g}", limit, f"Set {_TIMEOUT} to an hour")
        else:
            if probes:
                continue
            text = (
                "A stop in an async function blocks the event loop of the replica, so Serve ends the replica after "
                f"{PROBES.default} (Ray 2.60). Set {PROBES.setting}=0 in the runtime_env of its {_OPTIONS} while you "
                "debug."
            )
            is_sure = deployment.checks_health is False and _OPTIONS not in given
            fix = _with(file, deployment.made_by, _NO_PROBES, None, f"Set {PROBES.setting}=0") if is_sure else ()
        yield RuleFinding(HEALTH_CHECK_WHILE_STOPPED, span(call.node), text, fix)


def _holds_loop(scope: Scope) -> bool:
    return isinstance(scope.node, ast.AsyncFunctionDef) and scope.node.name != "__init__"


def _deployments(file: PythonFile) -> dict[Scope, _Deployment]:
    """Return the deployments that `@serve.deployment`, `serve.deployment(D)` and `serve.deployment()(D)` make."""
    program = file.program
    checks = _health_checks(file)
    found: dict[Scope, _Deployment] = {}
    for scope in program.scopes:
        if isinstance(scope.node, DECORATED) and scope.parent is not None:
            for decorator in scope.node.decorator_list:
                if _is_deployment(file, decorator, scope.parent):
                    found[scope] = _Deployment(decorator, checks.get(scope, False))
    for call in program.calls:
        function = call.node.func
        made_by = function if isinstance(function, ast.Call) else call.node
        if call.node.args and _is_deployment(file, made_by, call.scope):
            named = program.definition(call.node.args[0], call.scope)
            if named is not None:
                found[named] = _Deployment(made_by, checks.get(named, False))
    return found


def _is_deployment(file: PythonFile, expression: ast.expr, scope: Scope) -> bool:
    function = expression.func if isinstance(expression, ast.Call) else expression
    return file.program.dotted(function, scope) in DEPLOYMENTS - {"ray.serve.ingress"}


def _health_checks(file: PythonFile) -> dict[Scope, bool | None]:
    """Return whether each class has a method `check_health`; None if one of its base classes is not in the file.

    A base class stands above its subclasses, so one pass in the order of the source is enough.
    """
    found: dict[Scope, bool | None] = {}
    for scope in file.program.scopes:
        if scope.is_class:
            bases = [None if base is None else found.get(base) for base in file.workers.objects.bases(scope)]
            own = any(child.name == f"{scope.name}.check_health" for child in scope.children)
            found[scope] = True if own or True in bases else None if None in bases else False
    return found


def _with(file: PythonFile, made_by: ast.expr, argument: str, old: ast.keyword | None, title: str) -> tuple[Fix, ...]:
    """Return the fix that adds an argument to `serve.deployment`, or replaces the argument `old`."""
    place = span(made_by)
    end = TextSpan(place.end_line, place.end_column, place.end_line, place.end_column)
    if old is not None:
        edit = Edit(span(old), argument)
    elif not isinstance(made_by, ast.Call):
        edit = Edit(end, f"({argument})")
    else:
        arguments = argument_spans(made_by)
        if not arguments:
            edit = Edit(TextSpan(end.line, end.column - 1, end.line, end.column - 1), argument)
        else:
            last = arguments[-1]
            if b"".join(text_between(file, last, end).split()) not in (b")", b",)"):
                return ()
            edit = Edit(TextSpan(last.end_line, last.end_column, last.end_line, last.end_column), f", {argument}")
    return (Fix(title, (edit,)),)
