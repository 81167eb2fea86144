"""The rules for environment variables in Python files: `os.environ`, `os.putenv`, and `env_vars` of a runtime_env."""

import ast
from collections.abc import Iterator
from dataclasses import replace

from raydap.analysis.ray_settings import VALUES
from raydap.lsp.analysis.findings import Edit, Fix, RuleFinding, TextSpan, span
from raydap.lsp.analysis.python_file import PythonFile
from raydap.lsp.analysis.scopes import Scope
from raydap.lsp.analysis.syntax import CallSite
from raydap.lsp.rules import debug_variables
from raydap.lsp.rules.debug_variables import Variable
from raydap.lsp.rules.statement_order import Order

AFTER_INIT = "ray-debug-after-init"

_ENVIRON = "os.environ"
_ENV_VARS = "env_vars"
_RUNTIME_ENV = "runtime_env"


def check_variables(file: PythonFile) -> Iterator[RuleFinding]:
    """Yield the findings about the names and values of variables."""
    for variable, _, _ in _of_process(file):
        yield from debug_variables.check(variable)
    for dictionary in _of_runtime_envs(file):
        for variable in _of_dictionary(file, dictionary):
            yield from debug_variables.check(variable)


def check_order(file: PythonFile) -> Iterator[RuleFinding]:
    """Yield a finding for each variable that is certainly set after ray.init, when workers no longer receive it."""
    starts = file.program.calls_of("ray.init")
    if not starts:
        return
    ends: dict[Scope, int] = {}
    for call in file.program.calls_of("ray.shutdown"):
        ends[call.scope] = min(call.node.lineno, ends.get(call.scope, call.node.lineno))
    order: Order | None = None
    for variable, scope, statement in _of_process(file):
        line = variable.name_span.line
        if variable.name not in VALUES or ends.get(scope, line) < line:
            continue
        order = order or Order(file, starts)
        init = order.init_before(scope, statement)
        if init is not None:
            text = (
                f"{variable.name} is set after ray.init, so workers do not receive it. "
                "Set it before ray.init, or in the runtime_env."
            )
            yield RuleFinding(AFTER_INIT, variable.name_span, text, _move(file, order, statement, init))


def _of_process(file: PythonFile) -> Iterator[tuple[Variable, Scope, ast.stmt]]:
    """Yield the variables that the file sets in the environment of its own process, with their scope and statement."""
    program = file.program
    for one in program.assignments:
        target = one.target
        if isinstance(target, ast.Subscript) and program.dotted(target.value, one.scope) == _ENVIRON:
            variable = _variable(file, target.slice, one.value)
            if variable is not None:
                is_shared = isinstance(one.statement, ast.Assign) and len(one.statement.targets) > 1
                yield replace(variable, is_shared=is_shared), one.scope, one.statement
    for union in program.unions:
        if program.dotted(union.target, union.scope) == _ENVIRON and isinstance(union.value, ast.Dict):
            for variable in _of_dictionary(file, union.value):
                yield variable, union.scope, union.statement
    for call in program.calls_of(f"{_ENVIRON}.setdefault", "os.putenv"):
        if len(call.node.args) == 2:
            variable = _variable(file, *call.node.args)
            if variable is not None:
                yield variable, call.scope, call.statement
    for call in program.calls_of(f"{_ENVIRON}.update"):
        for variable in _of_update(file, call):
            yield variable, call.scope, call.statement


def _of_update(file: PythonFile, call: CallSite) -> Iterator[Variable]:
    for argument in call.node.args:
        if isinstance(argument, ast.Dict):
            yield from _of_dictionary(file, argument)
    siblings = frozenset(keyword.arg for keyword in call.node.keywords if keyword.arg is not None)
    for keyword in call.node.keywords:
        if keyword.arg is not None:
            place = span(keyword)
            name = TextSpan(place.line, place.column, place.line, place.column + len(keyword.arg.encode()))
            text, is_text = _constant(keyword.value)
            yield Variable(keyword.arg, name, text, span(keyword.value), is_text, "", siblings)


def _of_dictionary(file: PythonFile, dictionary: ast.Dict) -> Iterator[Variable]:
    siblings = frozenset(str(key.value) for key in dictionary.keys if isinstance(key, ast.Constant))
    for key, value in zip(dictionary.keys, dictionary.values, strict=True):
        variable = _variable(file, key, value) if key is not None else None
        if variable is not None:
            yield replace(variable, siblings=siblings)


def _of_runtime_envs(file: PythonFile) -> Iterator[ast.Dict]:
    """Yield each dictionary that is the value of a key `env_vars`, or of such an argument of a runtime_env, once."""
    program = file.program
    found: dict[int, ast.Dict] = {}

    def add(value: ast.expr, scope: Scope) -> None:
        value = program.value(value, scope)
        if isinstance(value, ast.Dict):
            found[id(value)] = value

    runtime_envs = set()
    for dictionary, scope in program.dictionaries:
        for key, value in zip(dictionary.keys, dictionary.values, strict=True):
            if isinstance(key, ast.Constant) and key.value == _ENV_VARS:
                add(value, scope)
            elif isinstance(key, ast.Constant) and key.value == _RUNTIME_ENV:
                runtime_envs.add(program.value(value, scope))
    for call in program.calls:
        for keyword in call.node.keywords:
            if keyword.arg == _RUNTIME_ENV:
                runtime_envs.add(program.value(keyword.value, call.scope))
    for call in program.calls:
        # Functions of other packages have an argument of this name, too.
        if call.name.startswith("ray.") or call.node in runtime_envs:
            for keyword in call.node.keywords:
                if keyword.arg == _ENV_VARS:
                    add(keyword.value, call.scope)
    yield from found.values()


def _variable(file: PythonFile, key: ast.expr, value: ast.expr) -> Variable | None:
    """Return the variable with this name and value; None if the name is not a string constant."""
    if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
        return None
    text, is_text = _constant(value)
    place = span(key)
    quote = file.lines[place.line - 1][place.column : place.column + 1].decode("ascii", "replace")
    return Variable(key.value, place, text, span(value), is_text, quote if quote in "\"'" else '"')


def _constant(value: ast.expr) -> tuple[str | None, bool]:
    """Return the text of a constant, and whether it is a string; `None, True` for any other expression."""
    if not isinstance(value, ast.Constant) or value.value is None:
        return None, True
    return str(value.value), isinstance(value.value, str)


def _move(file: PythonFile, order: Order, statement: ast.stmt, init: CallSite) -> tuple[Fix, ...]:
    """Return the fix that moves the statement before that of ray.init, if this certainly changes nothing else.

    The statement must set a constant and directly follow that of ray.init, and neither may share a line with another
    statement.
    """
    if not order.is_next(init.statement, statement) or not order.needs_only_imports(statement, init):
        return ()
    here, there = span(statement), span(init.statement)
    lines = file.lines[here.line - 1 : here.end_line]
    rest = lines[-1][here.end_column :]
    if lines[0][: here.column].strip() or not (rest.strip() == b"" or rest.lstrip().startswith(b"#")):
        return ()
    if here.column != there.column or file.lines[there.line - 1][: there.column].strip() or not rest.endswith(b"\n"):
        return ()
    moved = b"".join(lines).decode("utf-8", "surrogatepass")
    insertion = Edit(TextSpan(there.line, 0, there.line, 0), moved)
    removal = Edit(TextSpan(here.line, 0, here.end_line + 1, 0), "")
    return (Fix("Set it before ray.init", (insertion, removal)),)
