"""The tests that a change requires, in this project and in a small repository."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from support import changed_tests
from support.changed_tests import ALL_TESTS, IN_PROCESSES, ROOT, TABLE, folded, select
from support.import_graph import ImportGraph

QUICK = {"tests/conformance/test_conformance.py", "tests/playbook/test_stops.py", "tests/unit/core/test_flows.py"}


@pytest.fixture(scope="module")
def graph() -> ImportGraph:
    """Return the graph of this project. Reading all files takes seconds, so the tests with it are slow."""
    return ImportGraph(ROOT)


@pytest.mark.slow
def test_a_change_in_the_core_needs_the_playbook_and_sessions_with_debugpy(graph: ImportGraph) -> None:
    selected = select(graph, ["adapter/raydap/core/requests/execution.py"]).tests
    assert {test for test in graph.tests if test.startswith("tests/playbook/")} <= selected
    assert {"tests/golden/test_golden.py", "tests/property/test_core.py", "tests/e2e", "tests/hub"} <= selected
    assert "tests/unit/lsp/test_rules.py" not in selected


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changed", "needed"),
    [
        ("tests/support/playbook.py", "tests/playbook/test_stops.py"),
        ("tests/unit/core/test_flows.py", "tests/unit/core/test_flows.py"),
        ("tests/lsp/live.lua", "tests/lsp/test_in_editors.py"),
        ("tests/golden/merged.txt", "tests/golden"),
        ("docs/requests.md", "tests/unit/protocol/test_requests_page.py"),
        ("docs/examples/tasks.py", "tests/ray/test_stops.py"),
        ("adapter/raydap/inworker/agent.py", "tests/inworker"),
        ("vscode-ext/src/extension.ts", "tests/vscode"),
    ],
)
def test_a_change_needs_the_tests_that_import_or_name_the_file(graph: ImportGraph, changed: str, needed: str) -> None:
    selection = select(graph, [changed])
    assert needed in selection.tests
    assert not selection.tests >= QUICK
    (reason,) = selection.reasons
    assert reason.startswith(f"{changed}: ")


@pytest.mark.slow
@pytest.mark.parametrize("changed", [*ALL_TESTS, "tests/conftest.py", "tests/support/processes.py"])
def test_all_quick_tests_run_if_every_test_depends_on_the_change(graph: ImportGraph, changed: str) -> None:
    selection = select(graph, [changed])
    assert selection.tests >= QUICK
    assert not any(Path(test).parts[1] in IN_PROCESSES for test in selection.tests)
    assert selection.reasons[0] == f"{changed}: all tests"
    assert "`make test`" in selection.reasons[-1]


@pytest.mark.slow
def test_all_quick_tests_run_if_most_depend_on_the_change(graph: ImportGraph) -> None:
    selection = select(graph, ["adapter/raydap/protocol/types.py"])
    assert selection.tests >= QUICK
    assert "more than half" in selection.reasons[-1]


@pytest.mark.slow
def test_the_quick_ones_are_those_of_make_test_quick(graph: ImportGraph) -> None:
    assert f"\nIN_PROCESSES = {' '.join(IN_PROCESSES)}\n" in (ROOT / "Makefile").read_text(encoding="utf-8")
    changed = ["adapter/raydap/hub/server.py"]
    both = [select(graph, changed, quick_only=quick_only).tests for quick_only in (False, True)]
    assert [("tests/hub" in tests, "tests/unit/hub/test_server.py" in tests) for tests in both] == [
        (True, True),
        (False, True),
    ]


@pytest.mark.slow
def test_what_no_test_reads_needs_none(graph: ImportGraph) -> None:
    selection = select(graph, ["LICENSE"])
    assert selection.tests == set()
    assert selection.reasons == ["LICENSE: no test"]


def test_a_folder_stands_for_its_files() -> None:
    known = ["tests/a/test_1.py", "tests/a/b/test_2.py", "tests/a/b/test_3.py", "tests/c/test_4.py"]
    assert folded(known[1:3], known) == ["tests/a/b"]
    assert folded(known[:3], known) == ["tests/a"]
    assert folded([known[0], known[3]], known) == [known[0], known[3]]
    assert folded(["tests/a", known[1]], known) == ["tests/a"]


def test_the_table_leads_to_folders_that_exist_and_contributing_shows_it() -> None:
    assert [path for path in (*TABLE, *sum(TABLE.values(), ())) if not (ROOT / path).exists()] == []
    assert {f"adapter/raydap/{path.parent.name}/" for path in (ROOT / "adapter/raydap").glob("*/__init__.py")} == {
        folder for folder in TABLE if folder.startswith("adapter/")
    }
    assert changed_tests.contributing_table() in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


@pytest.fixture
def git(tmp_path: Path) -> Callable[..., str]:
    """Return `git(*args)`, which runs git in a repository with one commit on main."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")

    def run(*args: str) -> str:
        author = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
        return subprocess.run(["git", *author, *args], cwd=tmp_path, check=True, capture_output=True, text=True).stdout

    run("init", "--quiet", "--initial-branch=main")
    (tmp_path / "a.py").touch()
    (tmp_path / "b.py").touch()
    run("add", ".")
    run("commit", "--quiet", "--message=first")
    return run


def test_the_default_base_is_where_the_branch_left_main(git: Callable[..., str], tmp_path: Path) -> None:
    first = git("rev-parse", "HEAD").strip()
    git("switch", "--quiet", "--create", "topic")
    (tmp_path / "a.py").write_text("a = 1\n")
    git("commit", "--quiet", "--all", "--message=second")
    (tmp_path / "b.py").unlink()
    (tmp_path / "ü.py").touch()
    assert changed_tests.default_base(tmp_path) == first
    assert changed_tests.changed_files(tmp_path, first) == ["a.py", "b.py", "ü.py"]
    assert changed_tests.changed_files(tmp_path, "HEAD") == ["b.py", "ü.py"]
    git("branch", "--force", "main")
    git("switch", "--quiet", "main")
    assert changed_tests.default_base(tmp_path) == first
