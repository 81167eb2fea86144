"""The functions that answer questions about files, called directly. tests/inworker calls them in workers."""

import os
from pathlib import Path

import pytest

from raydap.inworker import file_queries

NESTED = """\
import os

class Outer:
    name = "x"

    def inner(self):
        return [
            lambda: 1,
            os,
        ]

raise SystemExit("not run")
"""


def test_the_folders_of_a_job_and_its_copies_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "py_modules_files" / "_ray_pkg_0a"
    (folder / "shop" / "maths").mkdir(parents=True)
    for name in ("shop/prices.py", "shop/maths/tax.py", "prices.py"):
        (folder / name).write_text("")
    assert file_queries.job_folders() == [os.getcwd()]
    assert file_queries.copies_of("/repo/libs/shop/prices.py") == [""]
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.syspath_prepend(str(tmp_path))
    assert file_queries.job_folders() == [os.getcwd(), str(folder)]
    for path, copy in (
        ("/repo/libs/shop/prices.py", "shop/prices.py"),
        ("C:\\repo\\shop\\maths\\tax.py", "shop/maths/tax.py"),
        ("/repo/shop/other.py", None),
        ("/repo/prices.py", None),
        ("prices.py", None),
    ):
        assert file_queries.copies_of(path) == ["", "" if copy is None else str(folder / copy)], path


def test_the_copy_of_a_file_has_the_longest_common_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "src" / "pkg").mkdir(parents=True)
    for name in ("train.py", "src/train.py", "src/pkg/a.py"):
        (tmp_path / name).write_text("")
    monkeypatch.chdir(tmp_path)
    for path, copy in (
        ("/home/me/proj/src/train.py", "src/train.py"),
        ("C:\\proj\\src\\pkg\\a.py", "src/pkg/a.py"),
        ("/home/me/other/train.py", "train.py"),
        ("/home/me/proj/lib/b.py", None),
        ("/home/me/proj/src", None),
        ("train.py", None),
    ):
        assert file_queries.copies_of(path) == ["" if copy is None else str(tmp_path / copy)], path


def test_a_text_has_the_encoding_that_it_names(tmp_path: Path) -> None:
    path = tmp_path / "latin.py"
    path.write_bytes("# coding: latin-1\n# \xe9\n".encode("latin-1"))
    assert file_queries.source_text(str(path), 0, 100) == "# coding: latin-1\n# \xe9\n"
    path.write_bytes("\ufeff# é\r\n".encode())
    assert file_queries.source_text(str(path), 0, 100) == "# é\n"
    assert file_queries.source_text(str(path), 2, 1) == "é"
    path.write_bytes(b"# coding: klingon\n")
    with pytest.raises(SyntaxError):
        file_queries.source_text(str(path), 0, 100)
    path.write_bytes(b"# \xff\n")
    with pytest.raises(SyntaxError):
        file_queries.source_text(str(path), 0, 100)
    with pytest.raises(OSError, match="missing"):
        file_queries.source_text(str(tmp_path / "missing.py"), 0, 100)


def test_lines_with_code_are_those_of_all_functions_and_classes(tmp_path: Path) -> None:
    path = tmp_path / "nested.py"
    path.write_text(NESTED)
    lines = file_queries.code_lines(str(path), 1, 100)
    assert lines == sorted(set(lines))
    assert {1, 3, 4, 6, 7, 8, 9, 12} == set(lines)
    assert file_queries.code_lines(str(path), 4, 8) == [4, 6, 7, 8]
    assert file_queries.code_lines(str(path), 10, 11) == []


def test_a_file_is_compiled_without_the_future_of_ours(tmp_path: Path) -> None:
    path = tmp_path / "broken.py"
    path.write_text("def :\n")
    with pytest.raises(SyntaxError):
        file_queries.code_lines(str(path), 1, 1)
