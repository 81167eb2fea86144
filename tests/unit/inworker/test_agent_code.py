"""The modules that an agent consists of."""

import ast
from importlib import resources
from pathlib import Path

import pytest

from raydap.inworker.agent_code import bare_source, find_modules, start_files

FOLDER = str(resources.files("raydap.inworker"))


def test_each_module_is_run_after_those_that_it_imports() -> None:
    """No finder of the process knows these modules."""
    found = find_modules(FOLDER)
    run: list[str] = []
    for name in (*found.idle, *found.rest, *found.driver):
        for node in ast.parse(Path(FOLDER, f"{name}.py").read_text("utf-8")).body:
            if isinstance(node, ast.ImportFrom) and node.level:
                assert node.module in run, f"{name} imports {node.module}"
        run.append(name)
    assert len(run) == len(set(run))
    assert {"agent", "light_start"} <= set(found.idle)
    assert {"driver_agent", "pydevd_lifetime", "start_files", "thread_waits"} <= set(found.rest)
    assert found.driver == ["agent_code", "driver_setup"]


def test_a_module_that_an_idle_agent_needs_later_is_not_run_at_once(tmp_path: Path) -> None:
    texts = {
        "light_start": "",
        "agent": "from .near import a\ndef f():\n    from .far import b\n",
        "near": "from .light_start import c\n",
        "far": "from .farther import d\nfrom .near import a\n",
        **dict.fromkeys(("farther", "actor_threads", "driver_agent", "first_frame"), ""),
        "driver_setup": "from .agent import e\nfrom .other import f\n",
        "other": "",
    }
    for name, text in texts.items():
        tmp_path.joinpath(f"{name}.py").write_text(text)
    found = find_modules(str(tmp_path))
    assert found.idle == ["light_start", "near", "agent"]
    assert found.rest == ["actor_threads", "driver_agent", "first_frame", "farther", "far"]
    assert found.driver == ["other", "driver_setup"]


@pytest.mark.parametrize("file", start_files(FOLDER))
def test_a_source_without_comments_and_docstrings_is_the_same_program(file: str) -> None:
    text = Path(FOLDER, file).read_text("utf-8")
    program = ast.parse(text)
    for node in ast.walk(program):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            is_text = [isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant) for each in body]
            kept = [each for each, text in zip(body, is_text, strict=True) if not text or each.value.value is ...]
            node.body = kept  # type: ignore[attr-defined]
    assert ast.dump(ast.parse(bare_source(text))) == ast.dump(program)
