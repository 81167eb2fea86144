"""`make test-changed`: run the tests that a change needs.

A change in a Python file needs the test files that import it, directly or not. Tests that run raydap in a process
import little of it, so TABLE names the tests that each folder needs in addition. A change in any other file needs the
test files with its name in a string.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from support.import_graph import ImportGraph, is_test

ROOT = Path(__file__).parents[2]

IN_PROCESSES = ("cpython_tests", "e2e", "editors", "hub", "inworker", "lsp", "ray", "vscode")
"""The folders that `make test-quick` leaves out."""

TABLE: dict[str, tuple[str, ...]] = {
    "adapter/raydap/cli/": ("tests/unit/cli", "tests/hub/test_serve.py", "tests/ray/test_terminal_commands.py"),
    "adapter/raydap/doctor/": ("tests/ray/test_doctor.py", "tests/ray/test_two_machines.py"),
    "adapter/raydap/mcp_server/": ("tests/unit/mcp_server", "tests/e2e/test_mcp.py", "tests/ray/test_mcp.py"),
    "adapter/raydap/report/": ("tests/ray/test_report.py",),
    "adapter/raydap/lsp/": ("tests/unit/lsp", "tests/lsp", "tests/ray/test_language_rules.py"),
    "adapter/raydap/terminal/": (
        "tests/ray/test_debug_terminal.py",
        "tests/ray/test_kept_session.py",
        "tests/ray/test_terminal_commands.py",
    ),
    "adapter/raydap/client/": ("tests/lsp/test_live.py", "tests/ray/test_terminal_commands.py"),
    "adapter/raydap/hub/": ("tests/hub", "tests/ray/test_status.py", "tests/ray/test_up.py"),
    "adapter/raydap/runtime/": ("tests/e2e", "tests/hub"),
    "adapter/raydap/cluster/": ("tests/unit/cluster", "tests/ray"),
    "adapter/raydap/transport/": ("tests/e2e", "tests/hub"),
    "adapter/raydap/core/": ("tests/e2e", "tests/hub"),
    "adapter/raydap/analysis/": ("tests/unit/analysis", "tests/playbook"),
    "adapter/raydap/presentation/": ("tests/unit/presentation", "tests/playbook"),
    "adapter/raydap/inworker/": ("tests/unit/inworker", "tests/inworker", "tests/cpython_tests", "tests/ray"),
    "adapter/raydap/wire/": ("tests/e2e",),
    "adapter/raydap/protocol/": ("tests/unit/protocol", "tests/e2e"),
    ".github/": ("tests/unit/support/test_workflows.py",),
    "docs/examples/": ("tests/unit/examples", "tests/ray/test_demo.py"),
    "docs/": ("tests/unit/docs",),
    "tests/editors/": ("tests/editors",),
    "tests/golden/": ("tests/golden",),
    "vscode-ext/": ("tests/vscode",),
}
"""Folders, and the tests that a change in them needs in addition to those that the import graph finds.

Each of these tests runs the code in a process, or reads it as text.
"""

ALL_TESTS = ("Makefile", "pyproject.toml")
"""Files on which every test depends."""

CAP = 0.5
"""The share of the quick test files above which all of them run."""


@dataclass
class Selection:
    """The tests to run, and why."""

    tests: set[str] = field(default_factory=set)
    """Test files and folders."""
    reasons: list[str] = field(default_factory=list)
    """One line for each changed file, and a line if all quick tests run."""


def select(graph: ImportGraph, changed: Iterable[str], quick_only: bool = False) -> Selection:
    """Return the tests that a change of these files needs; `quick_only` leaves out IN_PROCESSES."""
    selection = Selection()
    everything = ""
    for path in changed:
        affected = graph.affected([path, *_naming(graph, path)])
        found = sorted(affected.intersection(graph.tests))
        rows = [] if is_test(path) else [tests for folder, tests in TABLE.items() if path.startswith(folder)]
        listed = list(dict.fromkeys(test for tests in rows for test in tests))
        if path in ALL_TESTS or "tests/conftest.py" in affected:
            everything = f"every test depends on {path}"
            found = []
        selection.tests.update(found, listed)
        by_graph = f"{len(found)} test files" if len(found) > 1 else "".join(found)
        reason = "; ".join(filter(None, [by_graph, " ".join(listed)]))
        selection.reasons.append(f"{path}: {reason or ('all tests' if everything else 'no test')}")
    quick = {test for test in graph.tests if PurePosixPath(test).parts[1] not in IN_PROCESSES}
    if not everything and len(selection.tests & quick) > CAP * len(quick):
        everything = "more than half of their files depend on the change"
    if everything:
        selection.tests |= quick
        selection.reasons.append(f"All quick tests run, because {everything}. `make test` also runs all others.")
    if quick_only:
        selection.tests = {test for test in selection.tests if PurePosixPath(test).parts[1] not in IN_PROCESSES}
    return selection


def _naming(graph: ImportGraph, path: str) -> set[str]:
    """Return the test code that contains the name of a file which tests read or start instead of importing it."""
    name = PurePosixPath(path).name
    if "." not in name or (name.endswith(".py") and not path.startswith("docs/examples/")):
        return set()
    return graph.naming(name)


def folded(tests: Collection[str], known: Collection[str]) -> list[str]:
    """Return the tests to run, with a folder in place of its files where all of them run."""
    for folder in sorted({str(parent) for test in known for parent in PurePosixPath(test).parents}, key=len):
        inside = {test for test in known if test.startswith(f"{folder}/")}
        if folder != "tests" and (folder in tests or (len(inside) > 1 and inside <= set(tests))):
            tests = {folder, *(test for test in tests if not test.startswith(f"{folder}/"))}
    return sorted(tests)


def changed_files(root: Path, base: str) -> list[str]:
    """Return the files that differ from the base revision, those that git does not track yet included."""
    tracked = _git(root, "diff", "--name-only", "--no-renames", "-z", base)
    untracked = _git(root, "ls-files", "--others", "--exclude-standard", "-z")
    return sorted({*tracked.split("\0"), *untracked.split("\0")} - {""})


def default_base(root: Path) -> str:
    """Return the revision where the branch left main, or on main the revision before the last commit."""
    on_main = _git(root, "rev-parse", "--abbrev-ref", "HEAD").strip() == "main"
    return _git(root, "rev-parse", "HEAD~1").strip() if on_main else _git(root, "merge-base", "HEAD", "main").strip()


def _git(root: Path, *args: str) -> str:
    return subprocess.run(["git", *args], cwd=root, check=True, stdout=subprocess.PIPE, text=True).stdout


def contributing_table() -> str:
    """Return TABLE as CONTRIBUTING.md shows it."""
    rows = [f"| `{folder}` | {', '.join(f'`{test}`' for test in tests)} |" for folder, tests in TABLE.items()]
    return "\n".join(["| a change in | needs the tests that import it, and |", "|---|---|", *rows])


def main() -> None:
    description = "Run the tests that a change needs. All other options go to pytest."
    parser = argparse.ArgumentParser("changed_tests", description=description, allow_abbrev=False)
    parser.add_argument("base", nargs="?", help="the revision to compare with (default: where the branch left main)")
    parser.add_argument("--quick", action="store_true", help="only the tests that make test-quick runs")
    options, rest = parser.parse_known_args()
    try:
        base = options.base or default_base(ROOT)
        changed = changed_files(ROOT, base)
    except subprocess.CalledProcessError:
        parser.error("git does not know the revision to compare with; name another one: make test-changed BASE=...")
    graph = ImportGraph(ROOT, [path for path in changed if not (ROOT / path).exists()])
    selection = select(graph, changed, options.quick)
    tests = folded(selection.tests, graph.tests)
    lines = [f"Changed since {base[:12]}, and the tests that need to run:", *selection.reasons]
    print(*lines, f"pytest {' '.join(tests)}" if tests else "No test needs to run.", sep="\n  ", flush=True)  # noqa: T201
    if tests:
        rest += ["-m", "not slow"] if options.quick else []
        # The programs that tests start would inherit the path of this module.
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        os.execve(sys.executable, [sys.executable, "-m", "pytest", *rest, *tests], environment)


if __name__ == "__main__":
    main()
