"""The lines and errors to watch, as users write them."""

from pathlib import Path

import pytest

from raydap.client.launched_program import Program
from raydap.report.watch_arguments import Watch, line, traced


@pytest.fixture(autouse=True)
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "train.py"
    path.write_text("x = 1\n")
    (tmp_path / "odd if:7.py").write_text("")
    return path


@pytest.mark.parametrize(
    ("text", "number", "condition"),
    [
        ("train.py:42", 42, ""),
        ("train.py:42 if loss > 10", 42, "loss > 10"),
        ("./train.py:1   if   x if y else z ", 1, "x if y else z"),
        ("train.py:3 if {1: 2}[1] == 2", 3, "{1: 2}[1] == 2"),
        ("train.py:3 if a and\n b", 3, "a and\n b"),
    ],
)
def test_lines(file: Path, text: str, number: int, condition: str) -> None:
    found = line(text)
    assert (found.file, found.line, found.condition, found.expression) == (str(file), number, condition, None)


def test_a_file_with_an_odd_name(tmp_path: Path) -> None:
    found = line("odd if:7.py:12 if y")
    assert (found.file, found.line, found.condition) == (str(tmp_path / "odd if:7.py"), 12, "y")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("train.py", '"train.py" is not a line. Write train.py:42, or "train.py:42 if loss > 10".'),
        ("train.py:x", '"train.py:x" is not a line. Write train.py:42, or "train.py:42 if loss > 10".'),
        ("train.py:1 when x", '"train.py:1 when x" is not a line. Write train.py'),
        ("train.py:1 if ", '"train.py:1 if " is not a line'),
        ("train.py:0", '"train.py:0" is not a line: lines count from 1.'),
        ("trian.py:4", 'There is no file "trian.py". Write its path relative to the current folder.'),
        ("train.py:1 if x =", 'The condition in "train.py:1 if x =" is not a valid Python expression: '),
    ],
)
def test_wrong_lines_are_refused_in_one_sentence(text: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=r"is no|There is no") as refused:
        line(text)
    assert str(refused.value).startswith(sentence)
    assert str(refused.value).count("\n") == text.count("\n")


def test_traces(file: Path) -> None:
    found = traced("train.py:7", " loss.item() ")
    assert (found.file, found.line, found.expression) == (str(file), 7, "loss.item()")
    for where, what in (("train.py:7 if x", "loss"), ("train.py:7", " "), ("train.py:7", "a b"), ("train.py", "x")):
        with pytest.raises(ValueError, match=r"\.$"):
            traced(where, what)


def test_titles() -> None:
    assert Watch(Program("train.py", ("--lr", "0.1"))).title == "train.py --lr 0.1"
    assert Watch(Program("pkg.train", (), is_module=True)).title == "-m pkg.train"
    assert Watch(job="02000000").title == "job 02000000"
