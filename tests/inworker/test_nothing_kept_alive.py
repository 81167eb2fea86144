"""A question to an agent keeps no object of the program alive."""

import json
import os
from contextlib import ExitStack
from pathlib import Path

import pytest

from support.agents import PreparedProgram, ask

pytestmark = pytest.mark.core

KEEPS = """\
import asyncio, os, sys, threading, weakref
class Batch: pass
seen = []
go = os.open(os.path.join(os.path.dirname(__file__), "go"), os.O_RDWR)
def plain():
    for number in range(2):
        batch = Batch()
        seen.append(weakref.ref(batch))
        if number == 0:
            waits.set()
            replaced.wait()
            replaced.clear()
        if number == 1:
            last.wait()
async def waiting():
    for number in range(2):
        batch = Batch()
        seen.append(weakref.ref(batch))
        await asyncio.sleep(1000 if number else 0)
        if number == 0:
            await looked
async def main():
    global looked
    looked = asyncio.get_running_loop().create_future()
    task = asyncio.create_task(waiting())
    while len(seen) < 2:
        await asyncio.sleep(0)
    await asyncio.sleep(0)
    print("begun", flush=True)
    await asyncio.to_thread(os.read, go, 1)
    looked.set_result(None)
    replaced.set()
    while len(seen) < 4:
        await asyncio.sleep(0)
    print("alive", [each() is not None for each in seen], flush=True)
    last.set()
    task.cancel()
waits, replaced, last = threading.Event(), threading.Event(), threading.Event()
def others():
    waits.wait()
    asyncio.run(main())
thread = threading.Thread(target=others)
thread.start()
plain()
thread.join()
"""


def test_no_question_keeps_an_object_alive(tmp_path: Path, children: ExitStack) -> None:
    os.mkfifo(tmp_path / "go")
    program = PreparedProgram.start(KEEPS, tmp_path, None, children)
    program.called().close()
    program.child.wait_for("begun")
    for question in ({"stack": True, "waits": True}, {"stack": True}, {"evaluate": "batch", "seconds": 30}):
        assert "Batch" in json.dumps(ask(program, question))
    (tmp_path / "go").write_text("1")
    assert program.child.wait() == 0, program.child.output
    assert program.child.output.split("alive ")[1] == "[False, False, True, True]\n"
