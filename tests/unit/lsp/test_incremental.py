"""Reading only the changes gives the same result as reading the whole file."""

import ast
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raydap.lsp.analysis.incremental import IncrementalReader
from raydap.lsp.analysis.syntax import ParsedFile
from raydap.lsp.examination import PythonExaminer
from support.examples import examples

LINES = [
    "import ray",
    "import pdb as debugger",
    "",
    "# a comment",
    "@ray.remote",
    "def f(x):",
    "    return g(x)",
    "    breakpoint()",
    "class A(B):",
    "    y = {'a': h()}",
    "if a():",
    "else:",
    "    pass",
    "x = '''",
    "'''",
    "x = 1 + \\",
    "    b()",
    "c(); d()",
    "e(",
    ")",
    "try:",
    "except E:",
    "for i in j(): k(i)",
    "with m() as x: n(x)",
    "    global x, y",
    "x |= {'a': 1}",
    "x = y = l()",
    "ä = '😀'; l()",
]

SOME = st.lists(st.sampled_from(LINES), max_size=12)
EDIT = st.tuples(st.integers(0, 12), st.integers(0, 4), st.lists(st.sampled_from(LINES), max_size=3))


@examples(400)
@given(SOME, st.lists(EDIT, max_size=8))
def test_any_changes(first: list[str], edits: list[tuple[int, int, list[str]]]) -> None:
    text, reader = list(first), IncrementalReader()
    check(reader, text)
    for start, count, new in edits:
        text[start : start + count] = new
        check(reader, text)


def test_a_kept_statement_is_not_read_again() -> None:
    reader = IncrementalReader()
    before = reader.read(lines(["import ray", "def f():", "    g()", "h()"]))
    after = reader.read(lines(["import ray", "# new", "def f():", "    g()", "h()"]))
    (kept,) = [call for call in before.calls if call.name == "" and call.scope.name == "f"]
    assert kept in after.calls
    assert kept.node.lineno == 4


def test_a_text_that_cannot_be_parsed_changes_nothing() -> None:
    reader = IncrementalReader()
    text = ["import ray", "def f():", "    g()"]
    check(reader, text)
    check(reader, [*text, "def ("])
    check(reader, ["#", *text])


def check(reader: IncrementalReader, text: list[str]) -> None:
    whole = IncrementalReader()
    if can_be_parsed(text):
        assert described(reader.read(lines(text))) == described(whole.read(lines(text))), text
    else:
        for one in (reader, whole):
            with pytest.raises(SyntaxError):
                one.read(lines(text))


def can_be_parsed(text: list[str]) -> bool:
    try:
        ast.parse("".join(f"{line}\n" for line in text))
    except SyntaxError:
        return False
    return True


def lines(text: list[str]) -> list[bytes]:
    return [f"{line}\n".encode() for line in text]


def described(program: ParsedFile) -> Any:
    return (
        ast.dump(program.module.node),
        [
            (call.name, call.scope.name, place(call.node), place(call.statement), len(call.tries))
            for call in program.calls
        ],
        [(scope.name, scope.parent and scope.parent.name, sorted(scope.names)) for scope in program.scopes],
        [(place(one.target), place(one.value)) for one in program.assignments],
        [(place(one), scope.name) for one, scope in program.dictionaries],
        [(place(one.target), place(one.value), one.scope.name) for one in program.unions],
        {name: len(bindings) for name, bindings in program.module.names.items()},
        sorted(program.imports),
    )


def place(node: ast.expr | ast.stmt) -> tuple[int, int, int | None, int | None]:
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


def test_what_python_warns_of_does_not_fill_the_log(capsys: pytest.CaptureFixture[str]) -> None:
    assert PythonExaminer().examine('import ray\npath = "\\d"\nassert (path, 1)\n') == []
    assert capsys.readouterr().err == ""
