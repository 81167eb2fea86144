"""The functions of Python that raydap replaces in a process are those of the table in docs/security.md."""

import json
from pathlib import Path

import pytest

from support.program_runs import run
from support.replaced_functions import SCAN, documented

pytestmark = pytest.mark.core

PROGRAM = f"""\
import asyncio, concurrent.futures, json, logging, multiprocessing, os, pty, socket, subprocess, threading, time
{SCAN}
print(json.dumps(replaced()))
"""


@pytest.mark.parametrize(
    ("mode", "where"),
    [
        ("", []),
        ("idle", ["a process with an agent"]),
        ("left", ["a process with an agent"]),
        ("attached", ["a process with an agent", "during a session"]),
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
