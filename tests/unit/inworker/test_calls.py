"""The texts that the core sends, and the answers that it reads. tests/inworker runs the texts in workers."""

import ast
import contextlib
import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raydap.inworker import bundle, calls, task_calls
from support.installed import FOLDER

REPL = [
    calls.enter(True),
    calls.enter(False),
    calls.keep_waiting(),
    calls.leave(True),
    calls.leave(False),
    calls.resume_thread(3),
    calls.resume_step(3),
    calls.pause_thread(3),
]
QUERIES = [
    calls.job_folders(),
    calls.copies_of("/a.py"),
    calls.source_text("/a'b\"\\c\n\udc80.py"),
    calls.code_lines("/a.py", 1, 2),
    calls.result_part(1, 250_000),
    calls.own_rank(),
    calls.collectives(),
    calls.lose_debugger(),
]


STACKS = [calls.blocked_threads(()), calls.blocked_threads((3, 4)), calls.all_stacks(), calls.frame_variables((3,))]


@pytest.mark.parametrize("expression", [*REPL, *QUERIES, *STACKS])
def test_each_is_one_expression_in_one_line_of_plain_text(expression: str) -> None:
    compile(expression, "expression", "eval")
    assert expression.isascii()
    assert "\n" not in expression


def test_an_expression_of_the_users_is_one_part_of_the_call_whatever_it_is() -> None:
    for text in ("loss", "a, b", "x # comment", "[each for each in y]", "'é'"):
        compile(calls.summary(text, 0.5), "expression", "eval")
    assert len(calls.summary("x", 1.0)) < 10_000


def test_a_hit_after_leave_does_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    pydevd: Any = SimpleNamespace(get_global_debugger=lambda: SimpleNamespace())
    monkeypatch.setitem(sys.modules, "pydevd", pydevd)
    monkeypatch.delitem(sys.modules, calls._package(), raising=False)
    assert eval(calls.stops_at_hit(1, "marker", "True")) is False
    assert eval(f"f{calls.hit_message(1, 'marker', 'True')!r}") == ""


def test_a_short_attach_leaves_no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[int] = []
    writer = SimpleNamespace(sock=SimpleNamespace(shutdown=ended.append))
    debugger = SimpleNamespace(get_arg_ppid=lambda: 1, writer=writer)
    pydevd: Any = SimpleNamespace(get_global_debugger=lambda: debugger)
    monkeypatch.setitem(sys.modules, "pydevd", pydevd)
    package = calls._package()
    with pytest.raises(RuntimeError, match="it has no debug port of its own"):
        eval(calls.keep_waiting())
    assert package not in sys.modules
    debugger.get_arg_ppid = lambda: 0
    port = SimpleNamespace(debugger_port_lock=None)
    ray: Any = SimpleNamespace(
        _private=SimpleNamespace(worker=SimpleNamespace(global_worker=None)), util=SimpleNamespace(debugpy=port)
    )
    comm: Any = SimpleNamespace(resume_threads=None)
    for name, module in {"ray": ray, "ray.util.debugpy": port, "_pydevd_bundle.pydevd_comm": comm}.items():
        monkeypatch.setitem(sys.modules, name, module)
    assert eval(calls.keep_waiting()) is None
    assert callable(debugger.dispose_and_kill_all_pydevd_threads)
    assert package in sys.modules
    assert eval(calls.lose_debugger()) is None
    assert ended == [2]
    assert not [name for name in sys.modules if name.startswith(package)]


@pytest.mark.parametrize("text", [None, 3, "x" * 100_000, "1 + ", "[" * 9_000, "3", "b'x'", "missing"])
def test_what_no_summary_can_be_is_refused(text: object) -> None:
    with pytest.raises(calls.ResultError):
        calls.read_summary(text)


def test_raydaps_own_are_known_by_how_they_begin() -> None:
    assert all(each.startswith(calls.OWN) for each in [*REPL, *QUERIES, *STACKS, calls.summary("x", 1.0)])


def test_all_are_different_and_what_is_sent_often_is_short() -> None:
    assert len({*REPL, *QUERIES, *STACKS}) == len(REPL) + len(QUERIES) + len(STACKS)
    assert max(map(len, STACKS)) < 9_000
    assert max(map(len, REPL[3:])) < 100
    assert max(map(len, QUERIES)) < 1_900
    # The package is sent once for each attach, as text and as compiled code, which is longest in Python 3.11.
    assert max(map(len, REPL)) < 64 * 1024


NAMED = {
    name
    for source in (calls, task_calls)
    for name in re.findall(r"[\"'](\w+)[\"']", Path(str(source.__file__)).read_text())
    if Path(FOLDER, f"{name}.py").exists()
}
SENT = bundle.with_imports(FOLDER, sorted(NAMED))
"""The modules that expressions install."""


@pytest.mark.parametrize("module", SENT)
def test_what_is_sent_needs_no_newer_python_and_few_modules(module: str) -> None:
    tree = ast.parse(bundle.bare_source(bundle.read_text(FOLDER, f"{module}.py")), feature_version=(3, 10))
    nodes = list(ast.walk(tree))
    modules = {str(node.module) for node in nodes if isinstance(node, ast.ImportFrom) and not node.level}
    modules |= {name.name for node in nodes if isinstance(node, ast.Import) for name in node.names}
    assert modules <= {
        *(
            "ast",
            "base64",
            "builtins",
            "collections",
            "collections.abc",
            "gc",
            "contextlib",
            "contextvars",
            "ctypes",
            "dis",
            "functools",
            "hashlib",
            "importlib.machinery",
            "inspect",
            "itertools",
            "json",
            "linecache",
            "math",
            "numpy",
            "operator",
            "os",
            "pdb",
            "pickle",
            "re",
            "reprlib",
            "signal",
            "socket",
            "struct",
            "sys",
            "threading",
            "time",
        ),
        *("tokenize", "traceback", "types", "typing", "zlib"),
        *("debugpy", "debugpy.server", "pydevd", "pydevd_file_utils"),
        *(module for module in modules if module.startswith(("_pydevd_bundle", "_pydevd_sys_monitoring"))),
    }


@given(st.text() | st.lists(st.integers()))
def test_results_are_read_from_answers_and_from_failures(result: Any) -> None:
    text = json.dumps(result)
    assert calls.read_result(text) == result
    assert calls.read_result(f"Traceback (most recent call last):\n  ...\nRaydapResult: {text}\n") == result


HOSTILE = [
    *(
        "",
        "nonsense",
        "[1, 2",
        "{}",
        "7",
        "null",
        "true",
        "[true]",
        "[1, 2.0]",
        '["a", 1]',
        "[[1]]",
        "NaN",
        "__import__('os')",
    ),
    *("[" * 1_000_000, '{"a":' * 100_000, "9" * 100_000, "[" + "9" * 100_000 + "]", "\udc80", "\0"),
    *("RaydapResult: 7", "\nRaydapResult: ", "\nRaydapResult: " + "[" * 1_000_000),
    *("Traceback (most recent call last):\nFileNotFoundError: no such file",),
    *(None, 7, True, b"[1]", ["a"], {"a": 1}, object()),
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_anything_else_is_an_error(text: object) -> None:
    with pytest.raises(calls.ResultError):
        calls.read_result(text)


@pytest.mark.parametrize("error", [MemoryError, RecursionError, ValueError])
def test_no_error_of_the_parser_gets_out(monkeypatch: pytest.MonkeyPatch, error: type[Exception]) -> None:
    def loads(text: str) -> None:
        raise error

    monkeypatch.setattr(json, "loads", loads)
    with pytest.raises(calls.ResultError):
        calls.read_result("[1]")


@given(st.text() | st.binary() | st.none() | st.integers())
def test_any_text_is_a_result_or_an_error(text: object) -> None:
    with contextlib.suppress(calls.ResultError):
        assert isinstance(calls.read_result(text), str | list)
