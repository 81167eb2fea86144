"""The functions that raydap replaces in a process are those of its table, and they behave like the originals."""

import json
import sys
from pathlib import Path

import pytest

from raydap.inworker.replaced_functions import ROWS
from support.program_runs import run
from support.replaced_functions import SCAN, documented

pytestmark = pytest.mark.core

PROGRAM = f"""\
import asyncio, concurrent.futures, json, logging, multiprocessing, os, pty, socket, subprocess, threading, time
{SCAN}
print(json.dumps(replaced()))
"""

CONFORMANCE = Path(__file__).with_name("replacements_program.py")

NOT_OURS = ("_thread:", "threading:", "builtins:execfile", "builtins:runfile", "pydevd:")
"""The functions that debugpy replaces, or raydap for one call only. The program replaces them itself."""

BEFORE_3_12 = ("FunctionActorManager", "fix_top_level_trace_and_get_trace_func")
"""Parts of the names of functions that raydap replaces only where Python has no `sys.monitoring`."""

ABSENT = ("_pydevd_sys_monitoring.", "subprocess:_fork_exec")
"""The functions that exist only in some versions of Python or debugpy."""


@pytest.mark.parametrize(
    ("mode", "where"),
    [
        ("", []),
        ("idle", ["with an agent"]),
        ("left", ["with an agent"]),
        ("attached", ["with an agent", "agent's session"]),
    ],
    ids=["without", "idle", "left", "attached"],
)
def test_they_are_documented(mode: str, where: list[str], tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    outcome = run(path, mode)
    assert outcome.exit_code == 0, outcome.errors
    found = set(json.loads(outcome.output))
    # Some of them exist only in some versions of Python.
    assert found <= documented(*where)
    assert bool(found) == bool(where)


@pytest.fixture(scope="module")
def conformance() -> dict[str, list[str]]:
    """Return what the program has found about each function, the kind of the function first."""
    outcome = run(CONFORMANCE, "attached")
    assert outcome.exit_code == 0, outcome.errors
    found: dict[str, list[str]] = json.loads(outcome.output)
    return found


@pytest.mark.parametrize("row", ROWS, ids=[row[0].partition(" ")[0] for row in ROWS])
def test_they_behave_like_the_originals(row: list[str], conformance: dict[str, list[str]]) -> None:
    """The test compares signature, keyword arguments, environment and pickling of each function.

    It also checks that each is restored after two sessions, from within a call, and in a traced thread, and that it is
    not restored if gevent or a tracer has replaced it since.
    """
    for path in row[0].split():
        kind, *wrong = conformance[path]
        assert wrong == [], path
        is_old = any(name in path for name in BEFORE_3_12) and sys.version_info >= (3, 12)
        is_other = path.startswith(NOT_OURS) or is_old
        assert kind in ("absent", "raydap's" if not is_other else "not raydap's"), path
        assert kind != "absent" or path.startswith((*ABSENT, *NOT_OURS)), path
