"""The process in which Ray's own code is asked."""

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from raydap.discovery import asking
from raydap.discovery.asking import AskFailed, ask


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "script.py"
    monkeypatch.setattr(asking, "_SCRIPT", path)
    return path


def run(timeout: float = 20.0, **question: Any) -> Any:
    return asyncio.run(ask(question, os.environ, timeout))


def test_the_question_goes_in_and_the_answer_comes_out(script: Path) -> None:
    script.write_text("import json, sys\nprint(json.dumps({'answer': [json.load(sys.stdin)]}))")
    assert run(address="h:1", since=None) == [{"address": "h:1", "since": None}]


def test_an_error_is_one_line(script: Path) -> None:
    script.write_text("import sys\nprint('{\"error\": \"OSError: a\\\\n  b\"}')\nprint('noise', file=sys.stderr)")
    with pytest.raises(AskFailed, match=r"^OSError: a b$") as caught:
        run()
    assert caught.value.detail == "noise\n"


def test_a_client_that_dies_is_told_with_its_code(script: Path) -> None:
    """Ray's GCS client ends its process when the GCS stays away."""
    script.write_text("import os\nos._exit(9)")
    with pytest.raises(AskFailed, match="code 9"):
        run()


def test_a_client_that_hangs_is_ended(script: Path, tmp_path: Path) -> None:
    script.write_text(f"import os, time\nopen({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\ntime.sleep(600)")
    with pytest.raises(AskFailed, match="no answer within"):
        run(timeout=1.0)
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)
