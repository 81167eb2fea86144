"""The entries of Ray's old debugger. tests/ray/test_doctor.py reads real ones."""

import json
from typing import Any

import pytest

from raydap.cluster.legacy import legacy_breakpoints
from raydap.core.process_info import ProcessInfo
from raydap.protocol.types import WorkerKey

WORKERS = {WorkerKey("ab"): ProcessInfo(WorkerKey("ab"), "10.0.0.7", 0, 4711, "10.0.0.7", "n1")}

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

HANDLED = """\
Traceback (most recent call last):

  File "/p/collect.py", line 5, in collect
    {}["x"]

KeyError: 'x'
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


def test_the_exception_of_a_post_mortem_in_one_line() -> None:
    found = read(traceback=TRACEBACK.replace("division by zero", "division\nby zero"))
    assert found is not None
    assert found.error == "ZeroDivisionError: division"
    assert not found.is_led


@pytest.mark.parametrize("text", [HANDLED, f"{HANDLED}\nDuring handling of the above exception, ...\n\n{HANDLED}"])
def test_a_breakpoint_where_an_exception_is_handled_is_no_post_mortem(text: str) -> None:
    found = read(traceback=text)
    assert found is not None
    assert (found.path, found.line, found.traceback, found.error) == ("/p/collect.py", 7, "", "")


def test_a_post_mortem_has_a_chain_of_exceptions() -> None:
    found = read(traceback=f"{HANDLED}\nDuring handling of the above exception, ...\n\n{TRACEBACK}")
    assert found is not None
    assert (found.line, found.error) == (9, "ZeroDivisionError: division by zero")


def test_nothing_of_the_users_waits_where_another_pdb_has_led() -> None:
    found = read(filename="/env/ray/_private/worker.py")
    assert found is not None
    assert found.is_led


def test_all_are_in_the_order_of_time() -> None:
    entries = {f"RAY_PDB_{time}": json.dumps({**ENTRY, "timestamp": time}) for time in (3, 1, 2)}
    found = legacy_breakpoints.read_all({**entries, "RAY_PDB_0": "nonsense"}, WORKERS)
    assert [one.since for one in found] == [1, 2, 3]


def test_an_entry_may_say_that_a_call_never_came() -> None:
    assert legacy_breakpoints.ends_debugger('{"exit_debugger": true}')
    assert not any(map(legacy_breakpoints.ends_debugger, ["", "1", "{}", "[" * 100_000, json.dumps(ENTRY)]))


def test_entries_of_the_dead_are_left_out() -> None:
    assert read(worker_id="cd") is None


@pytest.mark.parametrize("text", ["", "[]", "null", "1", '{"worker_id": "ab"}', "[" * 100_000])
def test_what_is_no_entry_is_left_out(text: str) -> None:
    assert legacy_breakpoints.read("RAY_PDB_1", text, WORKERS) is None
    assert read(pdb_address="nonsense") is None
    assert read(lineno="x") is None
