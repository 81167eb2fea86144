"""Debuggers and questions that need a terminal, in code that runs in a worker, which has none."""

import ast
from collections.abc import Iterator

from raydap.lsp.analysis.findings import Edit, Finding, Fix, Span, span
from raydap.lsp.analysis.python_file import PythonFile
from raydap.lsp.analysis.syntax import Call

PDB_IN_WORKER = "pdb-in-worker"
INPUT_IN_WORKER = "input-in-worker"

_RAISES = "fails with BdbQuit"
_RETURNS = "returns at once"
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
"""What each of them does in a worker, whose standard input is empty (measured with Ray 2.60)."""


def check(file: PythonFile) -> Iterator[Finding]:
    if any(file.program.dotted(one.target, one.scope) == "sys.stdin" for one in file.program.assignments):
        # The program gives its workers another standard input.
        return
    for call in file.program.calls_of("builtins.input", *_EFFECTS):
        name = call.name
        if name == "builtins.input" and file.program.bindings("*", call.scope) is not None:
            # `from module import *` may bring an `input` of the module's own.
            continue
        role = file.workers.role(call.scope)
        if role is None:
            continue
        if name == "builtins.input":
            text = f"A worker has no terminal, so input() fails with EOFError in {role.text}. breakpoint() stops there."
            yield Finding(INPUT_IN_WORKER, span(call.node), text, (_replace(file, call),))
            continue
        text = f"A worker has no terminal, so {name}() {_EFFECTS[call.name]} in {role.text}."
        if name.endswith((".post_mortem", ".pm")):
            advice = "With RAY_DEBUG_POST_MORTEM=1 a worker stops at an exception that nothing catches."
            yield Finding(PDB_IN_WORKER, span(call.node), f"{text} {advice}")
        else:
            yield Finding(PDB_IN_WORKER, span(call.node), f"{text} breakpoint() stops there.", (_replace(file, call),))


def _replace(file: PythonFile, call: Call) -> Fix:
    """`import pdb; pdb.set_trace()` is replaced as a whole."""
    place = span(call.node)
    before = file.lines[place.line - 1][: place.column]
    statement = before.strip()
    if statement.startswith(b"import ") and statement.endswith(b";") and b";" not in statement[:-1]:
        imported = statement[len(b"import ") : -1].strip()
        root = call.node.func.value if isinstance(call.node.func, ast.Attribute) else None
        if isinstance(root, ast.Name) and root.id.encode() == imported:
            column = len(before) - len(before.lstrip())
            place = Span(place.line, column, place.end_line, place.end_column)
    return Fix("Use breakpoint()", (Edit(place, "breakpoint()"),))
