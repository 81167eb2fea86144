"""No false alarms for the files that Ray itself installs, and the functions that these give to Ray are known."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import ray
from raydap.lsp.analysis.incremental import IncrementalReader
from raydap.lsp.analysis.syntax import CallSite, ParsedFile
from raydap.lsp.analysis.worker_code import WorkerCode
from raydap.lsp.examination import PythonExaminer
from support.inserted_calls import insert_in_functions

pytestmark = pytest.mark.slow

ROOT = Path(ray.__file__).parent

FUNCTIONS_OF_BATCHES = ("map_batches", "map_groups", "flat_map")

RULES_OF_STOPS = {"timeout-while-stopped", "health-check-while-stopped", "hidden-error"}
"""The rules that may find something in a right program with a breakpoint() in each function."""


@pytest.fixture(scope="module")
def files() -> dict[str, str]:
    """Return the texts of Ray's files by their names. Only these tests need them, and reading them takes a second."""
    return {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in sorted(ROOT.rglob("*.py"))}


def read(text: str) -> ParsedFile:
    return IncrementalReader().read(text.encode().splitlines(keepends=True))


def test_they_have_no_findings(files: dict[str, str]) -> None:
    found = {name: PythonExaminer().examine(text) for name, text in files.items()}
    assert {name: findings for name, findings in found.items() if findings != []} == {}
    assert len(files) >= 1000


def test_a_breakpoint_in_each_function_breaks_none_of_the_examples(files: dict[str, str]) -> None:
    found = {}
    for name, text in files.items():
        if "example" in name or "test" in name:
            changed, _ = insert_in_functions(text, "breakpoint()")
            findings = PythonExaminer().examine(changed)
            assert findings is not None
            found[name] = {one.code for one in findings} - RULES_OF_STOPS
    assert {name: codes for name, codes in found.items() if codes} == {}
    assert len(found) >= 50


def test_their_worker_code_is_seen(files: dict[str, str]) -> None:
    """The rules are silent although they detect the workers."""
    names = set()
    for name, text in files.items():
        if "example" in name or "test" in name:
            program = read(text)
            workers = WorkerCode(program)
            names |= {role.kind for scope in program.scopes if (role := workers.role(scope)) is not None}
    assert {"actor", "data", "task", "train", "tune"} <= names


def test_the_functions_that_they_give_to_datasets_are_known(files: dict[str, str]) -> None:
    """In Ray 2.60 these are 17 named functions. Another version may have a few in a new form."""
    known: list[str] = []
    unknown: list[str] = []
    for name, text in files.items():
        if any(f".{method}(" in text for method in FUNCTIONS_OF_BATCHES):
            program = read(text)
            workers = WorkerCode(program)
            for call in _calls(program):
                function = program.definition(call.node.args[0], call.scope)
                if function is not None:
                    is_known = workers.role(function) is not None
                    (known if is_known else unknown).append(f"{name}:{call.node.lineno}")
    assert len(known) >= 10
    assert len(unknown) <= (len(known) + len(unknown)) * 3 // 17, unknown


def _calls(program: ParsedFile) -> Iterator[CallSite]:
    for call in program.calls:
        function = call.node.func
        if isinstance(function, ast.Attribute) and function.attr in FUNCTIONS_OF_BATCHES and call.node.args:
            yield call
