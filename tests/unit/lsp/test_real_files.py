"""No false alarm on the examples and tests that Ray itself installs."""

from pathlib import Path

import ray
from raydap.lsp.analysis.incremental import IncrementalReader
from raydap.lsp.analysis.worker_code import WorkerCode
from raydap.lsp.examination import PythonExaminer

ROOT = Path(ray.__file__).parent
FILES = sorted(
    path
    for path in ROOT.rglob("*.py")
    if "example" in str(path.relative_to(ROOT)) or "test" in str(path.relative_to(ROOT))
)


def test_nothing_is_said_of_them() -> None:
    said = {}
    for path in FILES:
        findings = PythonExaminer().examine(path.read_text(encoding="utf-8"))
        if findings != []:
            said[str(path.relative_to(ROOT))] = findings
    assert said == {}
    assert len(FILES) >= 50


def test_their_worker_code_is_seen() -> None:
    """The silence is not that of a rule that sees no workers."""
    names = set()
    for path in FILES:
        program = IncrementalReader().read(path.read_bytes().splitlines(keepends=True))
        workers = WorkerCode(program)
        names |= {role.kind for scope in program.scopes if (role := workers.role(scope)) is not None}
    assert {"actor", "data", "task", "train", "tune"} <= names
