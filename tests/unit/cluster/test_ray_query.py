"""The process that calls Ray's own code."""

import asyncio
import gc
import inspect
import os
from pathlib import Path
from typing import Any

import pytest

from raydap.cluster.ray_process import ray_query, raydap_process
from raydap.cluster.ray_process.ray_query import QueryFailed, query


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "script.py"
    monkeypatch.setattr(ray_query, "SCRIPT", path)
    return path


def run(timeout: float = 20.0, **question: Any) -> Any:
    return asyncio.run(query("locate", question, os.environ, timeout))


def test_the_question_goes_in_and_the_answer_comes_out(script: Path) -> None:
    script.write_text("import json, sys\nprint(json.dumps({'answer': [json.load(sys.stdin)]}))")
    assert run(address="h:1", launched="") == [{"address": "h:1", "launched": ""}]


@pytest.mark.parametrize("operation", raydap_process.OPERATIONS)
def test_each_operation_is_a_function(operation: str) -> None:
    assert inspect.isfunction(raydap_process.find(operation))


def test_the_process_reads_one_line_and_writes_one_error() -> None:
    with pytest.raises(QueryFailed, match=r"^ConnectionRefusedError: ") as caught:
        asyncio.run(query("legacy", {"address": "127.0.0.1:1"}, os.environ, 60.0))
    assert "Traceback" not in caught.value.detail


def test_an_error_is_one_line(script: Path) -> None:
    script.write_text("import sys\nprint('{\"error\": \"OSError: a\\\\n  b\"}')\nprint('noise', file=sys.stderr)")
    with pytest.raises(QueryFailed, match=r"^OSError: a b$") as caught:
        run()
    assert caught.value.detail == "noise\n"


def test_a_client_that_dies_is_reported_with_its_code(script: Path) -> None:
    """Ray's GCS client ends its process if the GCS does not answer."""
    script.write_text("import os\nos._exit(9)")
    with pytest.raises(QueryFailed, match="code 9"):
        run()


def test_a_client_that_hangs_is_ended(script: Path, tmp_path: Path) -> None:
    script.write_text(f"import os, time\nopen({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\ntime.sleep(600)")
    with pytest.raises(QueryFailed, match="no answer within"):
        run(timeout=1.0)
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_a_query_that_is_cancelled_waits_for_no_process_that_its_script_has_left_behind(
    script: Path, tmp_path: Path
) -> None:
    """That process still holds the pipes."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    script.write_text(f"import os\nif os.fork():\n    os.kill(os.getpid(), 19)\nopen({str(fifo)!r}).read()")

    async def cancel() -> None:
        asking = asyncio.ensure_future(query("locate", {}, os.environ, 60.0))
        # From now on the remaining process reads, until this end is closed.
        writing = await asyncio.to_thread(os.open, fifo, os.O_WRONLY)
        try:
            asking.cancel()
            done, _ = await asyncio.wait([asking], timeout=20.0)
            assert done
        finally:
            os.close(writing)

    asyncio.run(cancel())
    gc.collect()  # A pipe left open would cause a warning now, which pytest turns into an error.
