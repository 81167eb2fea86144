"""The process that lists breakpoints of Ray's old debugger, without Ray."""

import asyncio
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from raydap.cluster.legacy import legacy_process
from raydap.cluster.legacy.legacy_watch import LegacyWatch
from raydap.cluster.ray_process import ray_query
from raydap.cluster.ray_process.ray_query import QueryFailed

ECHO = """\
import json, sys
for line in sys.stdin:
    print(json.dumps({"entries": {"said": line.strip()}}), flush=True)
"""


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Record and return the script's calls to Ray."""
    asked: list[Any] = []
    monkeypatch.setattr(legacy_process, "POLL_S", 0.0)

    def gcs_client(address: str) -> str:
        asked.append(address)
        return address

    monkeypatch.setattr(legacy_process, "gcs_client", gcs_client)
    monkeypatch.setattr(legacy_process, "read_entries", lambda gcs: {"of": gcs})
    monkeypatch.setattr(legacy_process, "forget", lambda gcs, key: asked.append((gcs, key)))
    return asked


def test_the_script_looks_again_and_again_until_its_input_ends(asked: list[Any]) -> None:
    ours, theirs = os.pipe()
    told: list[Mapping[str, Any]] = []
    for line in legacy_process.watch({"address": "10.0.0.1:5"}, ours):
        told.append(line)
        if len(told) == 2:
            os.write(theirs, b'{"forget": "RAY_P')
        if len(told) == 3:
            os.write(theirs, b'DB_1"}\n{"forget": "other"}\n')
        if len(told) == 5:
            os.close(theirs)
    os.close(ours)
    assert told == [{"entries": {"of": "10.0.0.1:5"}}] * 5
    assert asked == ["10.0.0.1:5", ("10.0.0.1:5", "RAY_PDB_1")]


def run(script: Path, monkeypatch: pytest.MonkeyPatch, looks: int, *forgotten: str) -> list[dict[str, str]]:
    monkeypatch.setattr(ray_query, "SCRIPT", script)

    async def run() -> list[dict[str, str]]:
        watch = LegacyWatch()
        await watch.start("10.0.0.1:5", os.environ)
        try:
            for key in forgotten:
                watch.forget(key)
            return [await watch.entries() for _ in range(looks)]
        finally:
            await watch.close()
            await watch.close()

    return asyncio.run(run())


def test_the_process_gets_the_address_and_the_keys_to_forget(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "echo.py").write_text(ECHO)
    said = [json.loads(look["said"]) for look in run(tmp_path / "echo.py", monkeypatch, 2, "RAY_PDB_1")]
    assert said == [{"address": "10.0.0.1:5"}, {"forget": "RAY_PDB_1"}]


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ('print(\'{"error": "RaySystemError: no\\\\n GCS"}\')', "RaySystemError: no GCS"),
        ("", "Ray's client has ended"),
    ],
)
def test_the_end_of_the_process_is_reported_with_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, reason: str
) -> None:
    (tmp_path / "ends.py").write_text(source)
    with pytest.raises(QueryFailed, match=reason):
        run(tmp_path / "ends.py", monkeypatch, 1)


def test_nothing_is_forgotten_where_nothing_was_asked() -> None:
    LegacyWatch().forget("RAY_PDB_1")
