"""The rows of workers that wait for Ray's old debugger."""

import asyncio
from collections.abc import Sequence
from typing import cast

from raydap.cluster.legacy.legacy_breakpoints import LegacyBreakpoint
from raydap.protocol.raydap_messages import WorkerEntry
from raydap.terminal import process_list
from raydap.terminal.legacy_listing import LegacyListing
from unit.terminal.made_up_pdbs import FakeListing, FakeLive, entry, waiting

FAILED = """\
Traceback (most recent call last):
  File "python/ray/_raylet.pyx", line 1, in x
  File "/p/collect.py", line 9, in collect
ZeroDivisionError: division by zero
"""


def rows(entries: Sequence[WorkerEntry], *breakpoints: LegacyBreakpoint) -> list[process_list.ProcessRow]:
    async def look() -> list[process_list.ProcessRow]:
        listing = cast(LegacyListing, FakeListing(*breakpoints))
        return await process_list.look(FakeLive(*entries), listing, None, False, process_list.Seen())

    return asyncio.run(look())


def test_each_breakpoint_takes_the_place_of_a_worker_that_runs() -> None:
    entries = [entry("a", "stopped"), entry("b"), entry("c", "running"), entry("d", task="")]
    found = rows(entries, waiting("b"), waiting("b", 2), waiting("c", 3), waiting("d", 4))
    assert [(row.entry.key, row.state) for row in found] == [
        ("a", "stopped"),
        ("d", "pdb"),
        ("b", "pdb"),
        ("b", "pdb"),
        ("c", "pdb"),
    ]
    assert all(59 < (row.age or 0) < 120 for row in found[1:])


def test_a_worker_that_is_stopped_as_well_has_both_rows() -> None:
    assert [row.state for row in rows([entry("a", "stopped")], waiting("a"))] == ["stopped", "pdb"]


def test_where_a_pdb_stands() -> None:
    (stands,) = rows([entry("a")], waiting("a"))
    (failed,) = rows([entry("a")], waiting("a", traceback=FAILED, line=9))
    (led,) = rows([entry("a")], waiting("a", path="/env/ray/_private/worker.py"))
    assert (stands.where, stands.has_failed) == ("at breakpoint() (collect.py:7)", False)
    assert failed.where == "post mortem (collect.py:9) ZeroDivisionError: division by zero"
    assert failed.has_failed
    assert led.where == "at the call that `remote` or `get` reached"


def test_for_programs_a_row_says_all_that_is_known_of_a_pdb() -> None:
    (row,) = rows([entry("a")], waiting("a", traceback=FAILED, line=9))
    told = row.as_json()
    assert (told["state"], told["file"], told["line"]) == ("pdb", "/p/collect.py", 9)
    assert told["place"] == row.where
    assert told["pdb"] == {
        "host": "127.0.0.1",
        "port": 5,
        "external": False,
        "error": "ZeroDivisionError: division by zero",
        "traceback": FAILED,
    }
    (other,) = rows([entry("a")])
    assert (other.as_json()["state"], other.as_json()["pdb"]) == ("alive", None)
