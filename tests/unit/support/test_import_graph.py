"""The dependencies between files, in a small project."""

from pathlib import Path

import pytest

from support.import_graph import ImportGraph, module_name

FILES = {
    "adapter/raydap/__init__.py": "",
    "adapter/raydap/core/__init__.py": "",
    "adapter/raydap/core/bridge.py": "from raydap.core import state\n",
    "adapter/raydap/core/state.py": "",
    "adapter/raydap/core/flows.py": "from .state import State\n",
    "adapter/raydap/core/sets/__init__.py": "from .. import flows\n",
    "docs/examples/dap_client.py": "",
    "tests/conftest.py": "import dap_client\n",
    "tests/support/play.py": "def start():\n    import raydap.core.bridge as bridge\n",
    "tests/playbook/conftest.py": "",
    "tests/playbook/test_stops.py": "from support.play import start\n",
    "tests/unit/test_state.py": "from raydap.core.state import State\n",
    "tests/unit/test_sets.py": "import raydap.core.sets\n",
}


@pytest.fixture
def graph(tmp_path: Path) -> ImportGraph:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return ImportGraph(tmp_path, deleted=["adapter/raydap/core/gone.py"])


def test_names_start_in_the_source_folders() -> None:
    assert module_name("adapter/raydap/core/bridge.py") == "raydap.core.bridge"
    assert module_name("adapter/raydap/core/__init__.py") == "raydap.core"
    assert module_name("docs/examples/dap_client.py") == "dap_client"
    assert module_name("tests/support/play.py") == "support.play"
    assert module_name("vscode-ext/test/project/train.py") == module_name("adapter/raydap/page.md") == ""


@pytest.mark.parametrize(
    ("changed", "tests"),
    [
        ("adapter/raydap/core/bridge.py", ["playbook/test_stops.py"]),
        ("adapter/raydap/core/state.py", ["playbook/test_stops.py", "unit/test_sets.py", "unit/test_state.py"]),
        ("adapter/raydap/core/flows.py", ["unit/test_sets.py"]),
        # Importing a module runs its packages, too.
        ("adapter/raydap/core/__init__.py", ["playbook/test_stops.py", "unit/test_sets.py", "unit/test_state.py"]),
        ("adapter/raydap/core/sets/__init__.py", ["unit/test_sets.py"]),
        ("docs/examples/dap_client.py", ["playbook/test_stops.py", "unit/test_sets.py", "unit/test_state.py"]),
        ("tests/playbook/conftest.py", ["playbook/test_stops.py"]),
        ("tests/unit/test_sets.py", ["unit/test_sets.py"]),
        ("adapter/raydap/new.py", []),
    ],
)
def test_tests_depend_on_what_they_import(graph: ImportGraph, changed: str, tests: list[str]) -> None:
    affected = graph.affected([changed])
    assert sorted(affected.intersection(graph.tests)) == [f"tests/{test}" for test in tests]
    assert changed in affected


def test_a_name_in_a_docstring_is_no_use_of_the_file(graph: ImportGraph, tmp_path: Path) -> None:
    (tmp_path / "tests/unit/test_pages.py").write_text('"""Like x.md."""\nPAGES = f"{1}/a.md b-c.md"  # And x.md.\n')
    naming = ImportGraph(tmp_path).naming
    assert naming("a.md") == naming("b-c.md") == {"tests/unit/test_pages.py"}
    assert naming("x.md") == naming("c.md") == graph.naming("a.md") == set()


def test_the_importers_of_a_deleted_file_depend_on_it(graph: ImportGraph, tmp_path: Path) -> None:
    test = "tests/unit/test_gone.py"
    (tmp_path / test).write_text("from raydap.core.gone import anything\n")
    deleted = "adapter/raydap/core/gone.py"
    assert ImportGraph(tmp_path, deleted=[deleted]).affected([deleted]) == {deleted, test}
    assert test not in graph.tests
