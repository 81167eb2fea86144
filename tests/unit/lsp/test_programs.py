"""The programs in `programs` have no findings, and the analysis knows exactly their functions that run in workers.

The programs have the shapes of Ray's own files and of public training code. A comment `# runs in: KIND` marks the first
line of each function that runs in a worker; no other function does, as far as the file shows.
"""

import ast
import re
from pathlib import Path

import pytest

from raydap.lsp.analysis.incremental import IncrementalReader
from raydap.lsp.analysis.worker_code import WorkerCode
from raydap.lsp.examination import PythonExaminer
from raydap.lsp.rules.terminal_input import INPUT_IN_WORKER, PDB_IN_WORKER
from support.inserted_calls import insert_in_functions

FOLDER = Path(__file__).parent / "programs"
PROGRAMS = {path.relative_to(FOLDER).as_posix(): path for path in sorted(FOLDER.rglob("*.py"))}

_MARK = re.compile(r"# runs in: ([a-z ]+)$")

IDS = list(PROGRAMS)


def marked(text: str) -> dict[int, str]:
    """Return the kind of each line with a mark."""
    found = {number: _MARK.search(line) for number, line in enumerate(text.split("\n"), 1)}
    return {number: one.group(1) for number, one in found.items() if one is not None}


@pytest.mark.parametrize("name", IDS)
def test_it_has_no_findings(name: str) -> None:
    assert PythonExaminer().examine(PROGRAMS[name].read_text()) == []


@pytest.mark.parametrize("name", IDS)
def test_exactly_the_marked_functions_run_in_workers(name: str) -> None:
    text = PROGRAMS[name].read_text()
    program = IncrementalReader().read(text.encode().splitlines(keepends=True))
    workers = WorkerCode(program)
    known = {
        scope.node.lineno: role.kind
        for scope in program.scopes
        if isinstance(scope.node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        and (role := workers.role(scope)) is not None
    }
    assert known == marked(text)


@pytest.mark.parametrize("name", IDS)
@pytest.mark.parametrize(
    ("call", "code"), [("import pdb; pdb.set_trace()", PDB_IN_WORKER), ("input()", INPUT_IN_WORKER)]
)
def test_a_debugger_in_each_function_is_found_in_the_marked_ones(name: str, call: str, code: str) -> None:
    """A user who debugs adds such calls. Those in the driver are right."""
    text = PROGRAMS[name].read_text()
    changed, lines = insert_in_functions(text, call)
    findings = PythonExaminer().examine(changed)
    assert findings is not None
    expected = sorted(new for new, old in lines.items() if old in marked(text))
    assert [(one.span.line, one.code) for one in findings] == [(line, code) for line in expected]


@pytest.mark.parametrize("name", IDS)
def test_a_breakpoint_in_each_function_breaks_no_program(name: str) -> None:
    """`breakpoint()` is right in every function, so only rules about waiting and time limits may have findings."""
    changed, _ = insert_in_functions(PROGRAMS[name].read_text(), "breakpoint()")
    findings = PythonExaminer().examine(changed)
    assert findings is not None
    assert {one.code for one in findings} <= {"timeout-while-stopped", "health-check-while-stopped", "hidden-error"}
