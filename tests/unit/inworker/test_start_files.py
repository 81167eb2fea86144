"""The files that start a Python with an agent are written once on a node where raydap is not installed."""

import os
import tempfile
import threading
from importlib import resources
from pathlib import Path

import pytest

from raydap.inworker import private_folders, start_files
from raydap.inworker.bundle import bare_source, packed_start_files
from raydap.inworker.bundle import start_files as files_in
from raydap.inworker.private_folders import safe_parent
from raydap.inworker.start_files import unpack_once

SOURCES = str(resources.files("raydap.inworker"))


@pytest.fixture(scope="module")
def packed() -> str:
    return packed_start_files(SOURCES)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder for temporary files. Apart from /tmp, no other user can write to it or its parents."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_they_are_those_of_raydap(folder: Path, packed: str) -> None:
    at_start = Path(unpack_once(packed))
    assert (at_start.name, at_start.parent.parent) == ("at_start", folder)
    assert at_start.parent.stat().st_mode & 0o777 == 0o700
    for name in files_in(SOURCES):
        assert at_start.parent.joinpath(name).read_text() == bare_source(Path(SOURCES, name).read_text())
    assert packed_start_files(str(at_start.parent)) == packed


def test_many_processes_write_one_folder(folder: Path, packed: str) -> None:
    found: list[str] = []
    threads = [threading.Thread(target=lambda: found.append(unpack_once(packed))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1
    assert os.listdir(folder) == [Path(found[0]).parent.name]


def test_another_version_has_a_folder_of_its_own(packed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start_files, "unpack", lambda packed, folder: "")
    assert unpack_once(packed) != unpack_once("x" + packed)


def test_half_written_files_are_removed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(packed: str, folder: str) -> str:
        Path(folder, "half").touch()
        raise OSError("No space left on device")

    monkeypatch.setattr(start_files, "unpack", fail)
    with pytest.raises(OSError, match="No space left"):
        unpack_once("")
    assert os.listdir(folder) == []


@pytest.mark.parametrize("kind", ["another user's folder", "link", "link to nothing", "open folder", "file"])
def test_what_others_can_change_is_not_trusted(
    folder: Path, packed: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path(unpack_once(packed)).parent
    if kind == "another user's folder":
        ours = os.getuid()
        monkeypatch.setattr(os, "getuid", lambda: ours + 1)
        monkeypatch.setattr(private_folders, "is_safe", lambda folder: True)
        path.rename(folder / path.name.replace(f"-{ours}-", f"-{ours + 1}-"))
    elif kind == "open folder":
        path.chmod(0o750)
    else:
        path.rename(folder / "moved")
        if kind == "file":
            path.touch()
        else:
            path.symlink_to("moved" if kind == "link" else "missing")
    with pytest.raises(PermissionError, match="is not a folder that only this user can enter"):
        unpack_once(packed)


def test_a_folder_in_which_others_can_rename_is_passed_over(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmp = os.path.realpath("/tmp")
    inner = folder / "inner"
    inner.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(inner))
    assert safe_parent() == str(inner)
    for mode, expected in ((0o1777, str(inner)), (0o770, tmp)):
        inner.chmod(mode)
        assert safe_parent() == expected
    inner.chmod(0o700)
    folder.chmod(0o777)
    assert safe_parent() == tmp
    monkeypatch.setattr(private_folders, "is_safe", lambda folder: False)
    with pytest.raises(PermissionError, match=f"other users can rename files in {inner} and in /tmp"):
        safe_parent()
