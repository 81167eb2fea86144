"""Errors of the system that no command handles itself. tests/e2e/test_limits.py tests the streams."""

import errno
import os
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from raydap.cli import standard_streams
from raydap.cli.main import main


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (OSError("It cannot be written."), "It cannot be written."),
        (
            OSError(errno.EMFILE, "Too many open files"),
            "raydap cannot open another file or socket: Too many open files.",
        ),
        (OSError(errno.EACCES, "Permission denied", "/x"), '"/x" cannot be used: Permission denied.'),
        (OSError(errno.ENOMEM, "Out of memory"), "The operating system refused a request of raydap: Out of memory."),
    ],
)
def test_each_is_one_sentence(error: OSError, sentence: str) -> None:
    assert standard_streams.explain(error).startswith(sentence)


def test_a_folder_that_was_removed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gone").mkdir()
    os.chdir("gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(FileNotFoundError) as caught:
        os.getcwd()
    assert standard_streams.explain(caught.value) == "The current folder was removed. Change to another folder."


def test_a_command_that_fails_so_prints_the_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    @click.command()
    def fails() -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(type(main), "get_command", lambda *_: fails)
    ended = CliRunner().invoke(main, ["fails"])
    assert ended.exit_code == 1
    assert ended.output.startswith("Error: raydap cannot open another file or socket: Too many open files. Raise")
