"""The files that an agent consists of."""

import ast
from importlib import resources

import pytest

from raydap.inworker.agent_code import AGENT_FILES, START_FILES, bare_source


def test_the_files_of_an_agent_share_no_name_by_mistake() -> None:
    seen: dict[str, str] = {}
    for file in AGENT_FILES:
        for node in ast.parse(resources.files("raydap.inworker").joinpath(file).read_text("utf-8")).body:
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", node)]
            for name in {getattr(each, "id", getattr(each, "name", "")) for each in targets} - {"", "TYPE_CHECKING"}:
                assert seen.setdefault(name, file) == file, f"{name} is in {seen[name]} and in {file}"


@pytest.mark.parametrize("file", START_FILES)
def test_a_source_without_comments_and_docstrings_is_the_same_program(file: str) -> None:
    text = resources.files("raydap.inworker").joinpath(*file.split("/")).read_text("utf-8")
    program = ast.parse(text)
    for node in ast.walk(program):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            is_text = [isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant) for each in body]
            kept = [each for each, text in zip(body, is_text, strict=True) if not text or each.value.value is ...]
            node.body = kept  # type: ignore[attr-defined]
    assert ast.dump(ast.parse(bare_source(text))) == ast.dump(program)
