"""`raydap report` refuses arguments that cannot be right before it starts anything."""

import socket
from pathlib import Path

import pytest
from click.testing import CliRunner

from raydap.cli.main import main


@pytest.fixture(autouse=True)
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text("x = 1\ny = 2\n")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "Name a program or a running job: raydap report train.py, or raydap report --job ID."),
        (["--job", "1", "train.py"], "Name a program or a running job"),
        (["trian.py"], 'There is no file "trian.py". To watch a job of this name, give --job trian.py.'),
        (["--break-at", "train.py", "train.py"], '"train.py" is not a line. Write train.py:42'),
        (["--break-at", "train.py:1 if", "train.py"], '"train.py:1 if" is not a line'),
        (["--trace-at", "train.py:1", "x y", "train.py"], "is not a valid Python expression"),
        (["--break-at", "train.py:1", "--break-at", "train.py:1 if x", "train.py"], "train.py:1 is given twice"),
        (["--break-at", "train.py:1", "--trace-at", "train.py:1", "x", "train.py"], "train.py:1 is given twice"),
        (["--every", "5min", "train.py"], '"5min" is not a duration. Write 30s, 5m or 1h.'),
        (["--limit", "0", "train.py"], '"0" is not a duration'),
        (["--job", "01000000", "--python", "python3"], "give no arguments, and neither --module nor --python"),
        (["01000000", "--lr", "1"], "For a running job, give no arguments"),
        (["--connect", "ws://h:1", "train.py"], "--connect works only with a job"),
        (
            ["--connect", "ws://h:1", "--dashboard", "http://h:2", "--job", "1"],
            "--dashboard and --connect cannot be combined",
        ),
    ],
)
def test_mistakes_are_one_sentence(arguments: list[str], sentence: str) -> None:
    ended = CliRunner().invoke(main, ["report", *arguments])
    assert ended.exit_code == 2
    assert sentence in " ".join(ended.output.split())


def test_a_page_that_cannot_be_written_keeps_the_program_from_beginning(tmp_path: Path) -> None:
    ended = CliRunner().invoke(main, ["report", "--out", "missing/report.html", "train.py"])
    assert ended.exit_code == 1
    assert "missing/report.html" in ended.output


def test_a_job_whose_cluster_does_not_answer() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        ended = CliRunner().invoke(
            main, ["report", "--dashboard", f"http://127.0.0.1:{taken.getsockname()[1]}", "02000000"]
        )
    assert ended.exit_code == 1
    assert "cannot be reached" in ended.output
