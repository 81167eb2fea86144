"""The files with which a Python begins with an agent are written once on a node where raydap is not installed."""

import os
import threading
from importlib import resources
from pathlib import Path

import pytest

from raydap.inworker import start_files
from raydap.inworker.agent_code import START_FILES, packed_start_files
from raydap.inworker.start_files import unpack_once

SOURCES = str(resources.files("raydap.inworker"))


@pytest.fixture(scope="module")
def packed() -> str:
    return packed_start_files(SOURCES)


def test_they_are_those_of_raydap(tmp_path: Path, packed: str) -> None:
    at_start = Path(unpack_once(packed, str(tmp_path)))
    assert (at_start.name, at_start.parent.parent) == ("at_start", tmp_path)
    assert at_start.parent.stat().st_mode & 0o777 == 0o700
    for name in START_FILES:
        assert at_start.parent.joinpath(name).read_text() == Path(SOURCES, name).read_text()
    assert packed_start_files(str(at_start.parent)) == packed


def test_many_processes_write_one_folder(tmp_path: Path, packed: str) -> None:
    found: list[str] = []
    threads = [threading.Thread(target=lambda: found.append(unpack_once(packed, str(tmp_path)))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1
    assert os.listdir(tmp_path) == [Path(found[0]).parent.name]


def test_another_version_has_a_folder_of_its_own(tmp_path: Path, packed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start_files, "unpack", lambda packed, folder: "")
    assert unpack_once(packed, str(tmp_path)) != unpack_once("x" + packed, str(tmp_path))


def test_what_is_half_written_is_left_to_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(packed: str, folder: str) -> str:
        Path(folder, "half").touch()
        raise OSError("No space left on device")

    monkeypatch.setattr(start_files, "unpack", fail)
    with pytest.raises(OSError, match="No space left"):
        unpack_once("", str(tmp_path))
    assert os.listdir(tmp_path) == []


def test_the_folder_of_another_user_is_not_trusted(
    tmp_path: Path, packed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    unpack_once(packed, str(tmp_path))
    monkeypatch.setattr(os, "getuid", lambda: os.geteuid() + 1)
    with pytest.raises(PermissionError, match="belongs to another user"):
        unpack_once(packed, str(tmp_path))
