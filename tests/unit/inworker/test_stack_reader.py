"""What each thread of a process does, told by two looks at its stack."""

import hashlib
import threading
from collections.abc import Callable, Iterator
from importlib import resources
from typing import Any

import pytest

OVER = threading.Event()


@pytest.fixture
def read() -> dict[str, Any]:
    """The names of the files, which run in one module."""
    names: dict[str, Any] = {"__name__": "reader"}
    for file in ("safe_values.py", "stack_reader.py"):
        exec(resources.files("raydap.inworker").joinpath(file).read_text("utf-8"), names)
    return names


def loop() -> None:
    turns = 0
    while not OVER.is_set():
        turns += 1


def compute() -> None:
    while not OVER.is_set():
        hashlib.pbkdf2_hmac("sha256", b"x", b"y", 3_000_000)


def wait() -> None:
    OVER.wait()


@pytest.fixture(autouse=True)
def _over() -> Iterator[None]:
    OVER.clear()
    yield
    OVER.set()


@pytest.mark.parametrize(
    ("target", "activity", "call"), [(loop, "running", None), (compute, "busy", None), (wait, "blocked", "OVER.wait")]
)
def test_what_a_thread_does(read: dict[str, Any], target: Callable[[], None], activity: str, call: str | None) -> None:
    thread = threading.Thread(target=target, daemon=True)
    thread.start()

    def stack() -> dict[str, Any]:
        (found,) = read["read_stacks"]([thread.ident])["threads"]
        found_: dict[str, Any] = found
        return found_

    # It has to begin, and others may use the processors.
    while (found := stack())["activity"] != activity:
        pass
    assert found["frames"][found["user"]]["name"] == target.__name__
    assert call in (None, found["call"])
    OVER.set()
    thread.join()


def test_a_source_that_has_changed_names_no_call(read: dict[str, Any], tmp_path: Any) -> None:
    file = tmp_path / "changed.py"
    file.write_text("OVER.wait()\n")
    code = compile(file.read_text(), str(file), "exec")
    file.write_text("def (\n")
    thread = threading.Thread(target=exec, args=(code, {"OVER": OVER}), daemon=True)
    thread.start()
    while (found := read["read_stacks"]([thread.ident])["threads"][0])["user"] == -1:
        pass
    assert found["call"] == ""
    OVER.set()
    thread.join()
