"""The rules for debuggers and `input()` in workers, which have no terminal."""

import ast
from collections import Counter
from collections.abc import Iterator

from raydap.lsp.analysis.findings import Edit, Fix, RuleFinding, TextSpan, span
from raydap.lsp.analysis.python_file import PythonFile
from raydap.lsp.analysis.syntax import CallSite

PDB_IN_WORKER = "pdb-in-worker"
INPUT_IN_WORKER = "input-in-worker"

_INPUT = "builtins.input"
_RAISES = "fails with BdbQuit"
_DEBUGGERS = {"IPython.core.debugger.Pdb", "ipdb.Pdb", "pdb.Pdb"}
_RETURNS = "returns immediately"
_EFFECTS = {
    "pdb.set_trace": _RAISES,
    "pdb.Pdb.set_trace": _RAISES,
    "pdb.post_mortem": _RETURNS,
    "pdb.pm": _RETURNS,
    "ipdb.set_trace": _RAISES,
    "ipdb.sset_trace": _RAISES,
    "ipdb.post_mortem": _RETURNS,
    "ipdb.pm": _RETURNS,
    "pudb.set_trace": "fails",
    "pudb.post_mortem": "fails",
    "IPython.core.debugger.set_trace": _RAISES,
    "IPython.embed": _RETURNS,
    "code.interact": _RETURNS,
}
"""The effect of each function in a worker, whose standard input is empty (measured with Ray 2.60)."""

_MAX_COLUMN = 500
"""The last column where a call may follow an import. It bounds the time for a line with thousands of calls."""


def check(file: PythonFile) -> Iterator[RuleFinding]:
    """Yield the findings of the rules `pdb-in-worker` and `input-in-worker`."""
    if any(file.program.dotted(one.target, one.scope) == "sys.stdin" for one in file.program.assignments):
        # The program may replace the standard input of its workers.
        return
    replacements: _Replacements | None = None
    calls = [(call, call.name) for call in file.program.calls_of(_INPUT, *_EFFECTS)]
    calls += [(call, "pdb.Pdb.set_trace") for call in file.program.calls if _is_of_own_debugger(file, call)]
    for call, name in calls:
        if name == _INPUT and file.program.bindings("*", call.scope) is not None:
            # `from module import *` may import another `input`.
            continue
        role = file.workers.role(call.scope)
        if role is None:
            continue
        replacements = replacements or _Replacements(file)
        if name == _INPUT:
            text = f"A worker has no terminal, so input() fails with EOFError in {role.text}. breakpoint() stops there."
            yield RuleFinding(INPUT_IN_WORKER, span(call.node), text, replacements.fixes(call))
            continue
        text = f"A worker has no terminal, so {name}() {_EFFECTS[name]} in {role.text}."
        if name.endswith((".post_mortem", ".pm")):
            advice = "With RAY_DEBUG_POST_MORTEM=1 a worker stops at an uncaught exception."
            yield RuleFinding(PDB_IN_WORKER, span(call.node), f"{text} {advice}")
        else:
            yield RuleFinding(
                PDB_IN_WORKER, span(call.node), f"{text} breakpoint() stops there.", replacements.fixes(call)
            )


def _is_of_own_debugger(file: PythonFile, call: CallSite) -> bool:
    """Return whether the call is `pdb.Pdb().set_trace()`, perhaps with the debugger in a local variable."""
    function = call.node.func
    if call.name or not isinstance(function, ast.Attribute) or function.attr != "set_trace":
        return False
    made = function.value
    if isinstance(made, ast.Name) and made.id in call.scope.names:
        made = file.program.value(made, call.scope)
    # A debugger that is made with arguments may have a terminal of its own.
    is_plain = isinstance(made, ast.Call) and not made.args and not made.keywords
    return is_plain and file.program.dotted(made.func, call.scope) in _DEBUGGERS  # type: ignore[attr-defined]


class _Replacements:
    """The fixes that replace a debugger or `input()` by `breakpoint()` in one file."""

    def __init__(self, file: PythonFile) -> None:
        self._file = file
        beside = Counter(self._imported_beside(call) for call in file.program.calls_of(*_EFFECTS))
        reads = Counter(
            node.id
            for node in ast.walk(file.program.module.node)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
        )
        self._unneeded = {name for name, count in beside.items() if reads[name] == count}
        """The modules that are used only by calls with their own import in the same line."""

    def fixes(self, call: CallSite) -> tuple[Fix, ...]:
        """Return the fix if `breakpoint()` changes nothing else; else nothing.

        The name `breakpoint` must be the builtin, the arguments of the call must have no effects, and the program must
        not use the result of `input()`.
        """
        program = self._file.program
        is_dropped = isinstance(call.statement, ast.Expr) and call.statement.value is call.node
        if call.name == _INPUT and not is_dropped:
            return ()
        if any(program.bindings(name, call.scope) is not None for name in ("breakpoint", "*")):
            return ()
        arguments = [*call.node.args, *(keyword.value for keyword in call.node.keywords)]
        if any(_acts(node) for argument in arguments for node in ast.walk(argument)):
            return ()
        place = span(call.node)
        if self._imported_beside(call) in self._unneeded:
            before = self._file.lines[place.line - 1][: place.column]
            place = TextSpan(place.line, len(before) - len(before.lstrip()), place.end_line, place.end_column)
        return (Fix("Use breakpoint()", (Edit(place, "breakpoint()"),)),)

    def _imported_beside(self, call: CallSite) -> str:
        """Return the module that the same line imports first, as in `import pdb; pdb.set_trace()`; "" without one."""
        place = span(call.node)
        root = call.node.func.value if isinstance(call.node.func, ast.Attribute) else None
        if not isinstance(root, ast.Name) or place.column > _MAX_COLUMN:
            return ""
        statement = self._file.lines[place.line - 1][: place.column].strip()
        return root.id if statement == f"import {root.id};".encode() else ""


def _acts(node: ast.AST) -> bool:
    """Return whether evaluating a node, without its children, may have effects."""
    if isinstance(node, ast.Call):
        return not (isinstance(node.func, ast.Name) and node.func.id in ("globals", "locals"))
    return isinstance(node, (ast.Await, ast.NamedExpr, ast.Yield, ast.YieldFrom))
