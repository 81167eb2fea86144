"""No false alarms for the examples and tests that Ray itself installs."""

from pathlib import Path

import pytest

import ray
from raydap.lsp.analysis.incremental import IncrementalReader
from raydap.lsp.analysis.worker_code import WorkerCode
from raydap.lsp.examination import PythonExaminer

pytestmark = pytest.mark.slow

ROOT = Path(ray.__file__).parent


@pytest.fixture(scope="module")
def files() -> list[Path]:
    """Return Ray's examples and tests. Only these tests need them, and the search takes a second."""
    found = {path: str(path.relative_to(ROOT)) for path in ROOT.rglob("*.py")}
    return sorted(path for path, name in found.items() if "example" in name or "test" in name)


def test_they_have_no_findings(files: list[Path]) -> None:
    said = {}
    for path in files:
        findings = PythonExaminer().examine(path.read_text(encoding="utf-8"))
        if findings != []:
            said[str(path.relative_to(ROOT))] = findings
    assert said == {}
    assert len(files) >= 50


def test_their_worker_code_is_seen(files: list[Path]) -> None:
    """The rules are silent although they detect the workers."""
    names = set()
    for path in files:
        program = IncrementalReader().read(path.read_bytes().splitlines(keepends=True))
        workers = WorkerCode(program)
        names |= {role.kind for scope in program.scopes if (role := workers.role(scope)) is not None}
    assert {"actor", "data", "task", "train", "tune"} <= names
