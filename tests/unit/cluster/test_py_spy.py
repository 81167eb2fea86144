"""The stacks that py-spy reads from outside, of a process that holds the GIL."""

import asyncio
import os
import shutil
import sys
from contextlib import ExitStack
from pathlib import Path

import msgspec
import pytest
from local_cluster import Child

from raydap.analysis.thread_stacks import Stacks
from raydap.cluster.survey import py_spy
from raydap.cluster.survey.py_spy import PySpyFailed
from raydap.core.process_info import ProcessInfo
from raydap.protocol.types import WorkerKey

PROGRAM = """\
import ctypes, os, sys, threading

threading.Thread(target=threading.Event().wait, name="raydap", daemon=True).start()

class Keeper:
    def keep(self, descriptor):
        words = ["kept"]
        print("keeps", flush=True)
        ctypes.PyDLL(None).read(descriptor, ctypes.create_string_buffer(9), 5)

Keeper().keep(os.open(sys.argv[1], os.O_RDWR))
"""


def row(pid: int) -> ProcessInfo:
    return ProcessInfo(WorkerKey("w1"), "127.0.0.1", 0, pid, "127.0.0.1")


def test_a_process_that_keeps_its_lock(tmp_path: Path) -> None:
    fifo, program = tmp_path / "fifo", tmp_path / "program.py"
    os.mkfifo(fifo)
    program.write_text(PROGRAM)
    with ExitStack() as stack:
        child = stack.enter_context(Child([sys.executable, str(program), str(fifo)], tmp_path / "log"))
        child.wait_for("keeps")
        stacks = py_spy.decode(asyncio.run(py_spy.output(row(child.process.pid))))
    (thread,) = stacks.threads  # raydap's own thread is not shown.
    assert thread.place == "blocked in native code below keep (program.py:9)"
    assert (thread.main, [frame.name for frame in thread.frames]) == (True, ["keep", "<module>"])
    assert {each.name: each.value for each in thread.frames[0].locals}["words"] == '["kept"]'


def test_a_process_that_has_ended_says_so() -> None:
    with pytest.raises(PySpyFailed, match="has ended"):
        asyncio.run(py_spy.output(row(2**22 + 1)))


def test_without_py_spy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name, path: None)
    with pytest.raises(PySpyFailed, match="not installed"):
        asyncio.run(py_spy.output(row(os.getpid())))


@pytest.mark.parametrize(
    "output", [b"", b"{}", b'[{"pid": 1, "frames"', b'[{"pid": 1}]', b'[{"pid": 1, "frames": [{"name": 7}]}]']
)
def test_output_of_another_py_spy_or_cut_off_is_reported(output: bytes) -> None:
    with pytest.raises(PySpyFailed, match="output of py-spy cannot be read"):
        py_spy.decode(output)


@pytest.mark.parametrize(
    ("path", "owner"),
    [
        ("/home/me/train.py", 0),
        ("/venv/lib/python3.12/site-packages/torch/nn.py", 1),
        ("/venv/lib/python3.12/site-packages/ray/worker.py", 2),
        ("/usr/lib/python3/dist-packages/debugpy/server.py", 2),
        ("/usr/lib/python3.12/threading.py", 2),
        ("python/ray/_raylet.pyx", 2),
        ("<frozen runpy>", 2),
    ],
)
def test_whose_code_it_is(path: str, owner: int) -> None:
    frame = {"name": "f", "filename": path, "line": 3, "locals": None}
    stacks: Stacks = py_spy.decode(msgspec.json.encode([{"pid": 1, "frames": [frame], "thread_name": None}]))
    assert stacks.threads[0].frames[0].owner == owner
    assert stacks.threads[0].is_users == (owner == 0)
