"""The frames of other threads, while there is garbage that takes a lock."""

import subprocess
import sys
import threading

import pytest

from raydap.inworker.thread_frames import current_frames

PROGRAM = """\
import gc
import sys
import threading
from raydap.inworker.thread_frames import current_frames

def look(after):
    gc.collect()
    local = threading.local()
    local.itself = local
    del local
    # A collection begins when so many objects are made.
    gc.set_threshold(after, 1, 1)
    return current_frames()

for after in range(2, 30):
    for _ in range(3):
        gc.set_threshold(0)
        assert look(after) == {}
print(gc.isenabled())
gc.disable()
current_frames()
print(gc.isenabled())
"""


def test_this_thread_has_none_where_gevent_returns_idents_of_greenlets(monkeypatch: pytest.MonkeyPatch) -> None:
    ident = threading.get_ident()
    monkeypatch.setattr(threading, "get_ident", lambda: 1)
    assert ident not in current_frames()


def test_all_other_threads_have_one() -> None:
    over = threading.Event()
    thread = threading.Thread(target=over.wait)
    thread.start()
    frames = current_frames()
    over.set()
    thread.join()
    assert thread.ident in frames
    assert threading.get_ident() not in frames


def test_a_garbage_collection_does_not_hang_the_process() -> None:
    command = [sys.executable, "-c", f"import sys\nsys.path[:0] = {sys.path!r}\n{PROGRAM}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "True\nFalse\n"
