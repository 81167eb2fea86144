"""The modules that an agent consists of."""

import __future__

import ast
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from types import CodeType

import pytest

from raydap.inworker.bundle import bare_source, compile_lightly, find_modules, start_files

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
    assert found.driver == ["bundle", "terminal_session", "driver_setup"]


def test_a_module_that_an_idle_agent_needs_later_is_not_run_at_once(tmp_path: Path) -> None:
    texts = {
        "light_start": "",
        "agent": "from .near import a\ndef f():\n    from .far import b\n",
        "near": "from .light_start import c\n",
        "far": "from .farther import d\nfrom .near import a\n",
        **dict.fromkeys(("farther", "driver_agent", "first_frame"), ""),
        "driver_setup": "from .agent import e\nfrom .other import f\n",
        "other": "",
    }
    for name, text in texts.items():
        tmp_path.joinpath(f"{name}.py").write_text(text)
    found = find_modules(str(tmp_path))
    assert found.idle == ["light_start", "near", "agent"]
    assert found.rest == ["driver_agent", "first_frame", "farther", "far"]
    assert found.driver == ["other", "driver_setup"]


@pytest.mark.parametrize("file", sorted({*start_files(FOLDER), *(each.name for each in Path(FOLDER).glob("*.py"))}))
def test_a_source_without_comments_docstrings_and_types_is_the_same_program(file: str) -> None:
    text = Path(FOLDER, file).read_text("utf-8")
    bare = bare_source(text)
    assert bare_source(bare) == bare
    assert fields(ast.parse(bare)) == fields(ast.parse(text))
    assert ast.dump(WithoutTypes().visit(ast.parse(bare))) == ast.dump(WithoutTypes().visit(ast.parse(text)))


class WithoutTypes(ast.NodeTransformer):
    """Removes types, and what is for readers."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        if isinstance(node, ast.FunctionDef):
            node.returns = None
        elif isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            return ast.Assign([node.target], node.value)
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [each for each in body if not is_for_readers(each)] or [ast.Pass()] * (body != [])  # type: ignore[attr-defined]
        return node


def fields(program: ast.Module) -> list[str]:
    """Return the fields of all classes with their types, from which classes such as a NamedTuple are made."""
    classes = [each for each in ast.walk(program) if isinstance(each, ast.ClassDef)]
    return [ast.unparse(each) for found in classes for each in found.body if isinstance(each, ast.AnnAssign)]


def test_types_are_left_out_of_heads_and_bodies() -> None:
    source = (
        "def add(one: int, more: dict[str, list[int]] | None = None, *rest: Any, key: Any = lambda: 1) -> int:\n"
        "    if one:\n        found: list[int] = [one]\n        self.x: int = 1\n    return {one: 1}\n"
    )
    assert bare_source(source) == (
        "def add(one, more = None, *rest, key = lambda: 1):\n"
        "\tif one:\n\t\tfound = [one]\n\t\tself.x = 1\n\treturn {one: 1}\n"
    )


def is_for_readers(node: ast.stmt) -> bool:
    """Return whether a statement is a docstring, or an import for type checkers."""
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return True
    is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return is_text and node.value.value is not ...  # type: ignore[attr-defined]


def test_a_body_that_is_a_docstring_becomes_a_statement() -> None:
    source = (
        'class A(Exception):\n    """A."""\n\n\nclass B:\n    """B."""\n\n    # Why.\n    field = 1\n    """C."""\n'
    )
    assert bare_source(source) == "class A(Exception):\n\tpass\nclass B:\n\tfield = 1\n"


def all_code(code: CodeType) -> Iterator[CodeType]:
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from all_code(each)


@pytest.mark.parametrize("file", start_files(FOLDER))
def test_compiled_code_knows_its_lines(file: str) -> None:
    text = Path(FOLDER, file).read_text("utf-8")
    whole = compile(text, "a", "exec", __future__.annotations.compiler_flag, dont_inherit=True, optimize=2)
    for light, code in zip(all_code(compile_lightly(text)), all_code(whole), strict=True):
        if light.co_name != "<module>":  # It may import `__future__`.
            assert list(light.co_lines()) == list(code.co_lines())
