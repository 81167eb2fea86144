"""The entries of Ray's old debugger; tests/ray/test_doctor.py reads real ones."""

import json
from typing import Any

import pytest

from raydap.cluster import legacy_breakpoints
from raydap.core.events import PausedWorker
from raydap.protocol.types import WorkerKey

WORKERS = {WorkerKey("ab"): PausedWorker(WorkerKey("ab"), "10.0.0.7", 0, 4711, "10.0.0.7", "n1")}

ENTRY = {
    "proctitle": "ray::collect()",
    "pdb_address": "localhost:40001",
    "filename": "/p/collect.py",
    "lineno": 7,
    "traceback": "NoneType: None\n",
    "timestamp": 12.5,
    "job_id": "01000000",
    "node_id": "n1",
    "worker_id": "ab",
    "actor_id": None,
    "task_id": "t1",
}

TRACEBACK = """\
Traceback (most recent call last):

  File "python/ray/_raylet.pyx", line 1893, in ray._raylet.execute_task

  File "/p/collect.py", line 9, in collect
    1 / 0

ZeroDivisionError: division by zero
"""


def read(**changes: Any) -> legacy_breakpoints.LegacyBreakpoint | None:
    return legacy_breakpoints.read("RAY_PDB_1", json.dumps({**ENTRY, **changes}), WORKERS)


def test_a_breakpoint_waits_on_its_own_node() -> None:
    found = read()
    assert found is not None
    assert (found.name, found.path, found.line, found.traceback) == ("collect()", "/p/collect.py", 7, "")
    assert (found.pid, found.node, found.job, found.task_id, found.actor_id) == (4711, "10.0.0.7", "01000000", "t1", "")
    assert (found.host, found.port, found.external, found.since) == ("127.0.0.1", 40001, False, 12.5)


@pytest.mark.parametrize(("address", "host"), [("10.0.0.7:5", "10.0.0.7"), ("[fd00::7]:5", "fd00::7")])
def test_one_of_an_external_debugger_has_the_address_of_its_node(address: str, host: str) -> None:
    found = read(pdb_address=address)
    assert found is not None
    assert (found.host, found.port, found.external) == (host, 5, True)


def test_a_post_mortem_stands_where_it_failed() -> None:
    found = read(traceback=TRACEBACK, filename="/ray/_private/worker.py", lineno=1)
    assert found is not None
    assert (found.path, found.line) == ("/p/collect.py", 9)
    assert "ZeroDivisionError" in found.traceback


def test_entries_of_the_dead_are_left_out() -> None:
    assert read(worker_id="cd") is None


@pytest.mark.parametrize("text", ["", "[]", "null", "1", '{"worker_id": "ab"}', "[" * 100_000])
def test_what_is_no_entry_is_left_out(text: str) -> None:
    assert legacy_breakpoints.read("RAY_PDB_1", text, WORKERS) is None
    assert read(pdb_address="nonsense") is None
    assert read(lineno="x") is None
