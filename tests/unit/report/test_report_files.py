"""The files are complete at any time, and the JSON agrees with its types."""

import os
from pathlib import Path

import msgspec
import pytest

from raydap import safe_files
from raydap.errors import ProblemError
from raydap.report.records import Report
from raydap.report.report_files import ReportFiles
from support.report_records import report


def test_all_files(tmp_path: Path) -> None:
    page, data, trace = (str(tmp_path / name) for name in ("a.html", "a.json", "a.trace"))
    files = ReportFiles(page, data, trace)
    files.check()
    assert list(tmp_path.iterdir()) == []
    files.write(report(title="one"), [])
    files.write(report(title="two"), [{"ph": "M", "name": "process_name", "pid": 0, "args": {"name": "Node x"}}])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.html", "a.json", "a.trace"]
    assert "two" in Path(page).read_text()
    assert msgspec.json.decode(Path(data).read_bytes(), type=Report).title == "two"
    assert len(msgspec.json.decode(Path(trace).read_bytes())) == 1


def test_a_page_that_cannot_be_made_leaves_the_one_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = ReportFiles(str(tmp_path / "a.html"))
    files.write(report(title="one"), [])
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            files.write(report(title="two"), [])
    assert "one" in (tmp_path / "a.html").read_text()


def test_a_file_that_cannot_be_written_is_reported_before_anything_begins(tmp_path: Path) -> None:
    page = tmp_path / "missing" / "a.html"
    with pytest.raises(ProblemError, match=f'The file "{page}" cannot be written: No such file or directory.'):
        ReportFiles(str(page)).check()


def test_a_full_disk_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "a.html"
    new_file = safe_files._new_file_beside

    def full(path: str, mode: int) -> tuple[str, int]:
        fresh, descriptor = new_file(path, mode)
        os.close(descriptor)
        return fresh, os.open("/dev/full", os.O_WRONLY)

    monkeypatch.setattr(safe_files, "_new_file_beside", full)
    with pytest.raises(ProblemError, match=f'The file "{page}" cannot be written: No space left on device.'):
        ReportFiles(str(page)).write(report(title="one"), [])
    assert list(tmp_path.iterdir()) == []


def test_a_device_stays_one(tmp_path: Path) -> None:
    page = tmp_path / "a.html"
    page.symlink_to("/dev/full")
    files = ReportFiles(str(page))
    files.check()
    with pytest.raises(ProblemError, match="No space left on device"):
        files.write(report(title="one"), [])
    assert [path.name for path in tmp_path.iterdir()] == ["a.html"]
    assert page.is_char_device()


def test_a_link_stays_one(tmp_path: Path) -> None:
    page, place = tmp_path / "a.html", tmp_path / "b.html"
    page.symlink_to(place)
    ReportFiles(str(page)).write(report(title="one"), [])
    assert page.is_symlink()
    assert "one" in place.read_text()


def test_a_pipe_gets_the_last_page_only(tmp_path: Path) -> None:
    page = tmp_path / "a.html"
    os.mkfifo(page)
    files = ReportFiles(str(page))
    files.check()
    files.write(report(title="one"), [], is_last=False)
    with pytest.raises(ProblemError, match="cannot be written: No such device or address"):
        files.write(report(title="nobody reads"), [])
    with open(os.open(page, os.O_RDONLY | os.O_NONBLOCK)) as reader:
        files.write(report(title="two"), [])
        text = reader.read()
    assert "two" in text
    assert "one</title>" not in text
    assert page.is_fifo()


def test_a_folder_is_reported_before_anything_begins(tmp_path: Path) -> None:
    with pytest.raises(ProblemError, match="cannot be written: Is a directory"):
        ReportFiles(str(tmp_path)).check()
