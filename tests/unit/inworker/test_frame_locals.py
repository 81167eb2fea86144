"""Reading the variables of a frame keeps no object alive, and does not change the program."""

import asyncio
import gc
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import pytest

from raydap.inworker.frame_locals import local_variables


class Batch:
    """An object that a loop replaces in each turn."""


Look = Callable[[FrameType], None]
Loop = Callable[[Look], "weakref.ref[Batch]"]


def look(frame: FrameType) -> None:
    assert type(local_variables(frame)["batch"]) is Batch


def plain(look: Look) -> "weakref.ref[Batch]":
    batch = Batch()
    look(sys._getframe())
    seen = weakref.ref(batch)
    batch = Batch()
    gone = seen()
    assert batch is not None
    assert gone is None
    return seen


def with_closure(look: Look) -> "weakref.ref[Batch]":
    batch = Batch()

    def inner() -> Batch:
        return batch

    look(sys._getframe())
    seen = weakref.ref(inner())
    batch = Batch()
    assert seen() is None
    return seen


def generator(look: Look) -> "weakref.ref[Batch]":
    def loop() -> Iterator["weakref.ref[Batch]"]:
        for _ in range(2):
            batch = Batch()
            yield weakref.ref(batch)

    generator: Any = loop()
    seen: weakref.ref[Batch] = next(generator)
    look(generator.gi_frame)
    next(generator)
    return seen


def generator_from_inside(look: Look) -> "weakref.ref[Batch]":
    def loop() -> Iterator["weakref.ref[Batch]"]:
        for _ in range(2):
            batch = Batch()
            look(sys._getframe())
            yield weakref.ref(batch)

    generator = loop()
    seen = next(generator)
    next(generator)
    return seen


def coroutine(look: Look) -> "weakref.ref[Batch]":
    async def loop() -> None:
        for _ in range(2):
            batch = Batch()
            seen.append(weakref.ref(batch))
            await asyncio.sleep(0)

    async def main() -> None:
        coroutine: Any = loop()
        task = asyncio.ensure_future(coroutine)
        await asyncio.sleep(0)
        look(coroutine.cr_frame)
        await asyncio.sleep(0)
        assert seen[0]() is None
        await task

    seen: list[weakref.ref[Batch]] = []
    asyncio.run(main())
    return seen[0]


@pytest.mark.parametrize("loop", [plain, with_closure, generator, generator_from_inside, coroutine])
def test_nothing_is_kept_alive(loop: Loop) -> None:
    """Objects must be freed even without a run of the garbage collector."""
    gc.disable()
    try:
        assert loop(look)() is None
    finally:
        gc.enable()


def test_a_frame_of_another_thread_keeps_nothing_alive() -> None:
    seen: list[weakref.ref[Batch]] = []
    begun, go, replaced, end = (threading.Event() for _ in range(4))

    def run() -> None:
        batch = Batch()
        seen.append(weakref.ref(batch))
        begun.set()
        go.wait()
        batch = Batch()
        replaced.set()
        end.wait()
        assert batch

    thread = threading.Thread(target=run)
    thread.start()
    begun.wait()
    frame: Any = sys._current_frames()[thread.ident or 0]
    while frame.f_code is not run.__code__:
        frame = frame.f_back
    look(frame)
    go.set()
    replaced.wait()
    del frame
    assert seen[0]() is None
    end.set()
    thread.join()


def test_the_variables_stay_what_they_are() -> None:
    first, second = 1, [2]

    def inner() -> list[int]:
        return second

    for _ in range(3):
        names = local_variables(sys._getframe())
        assert (names["first"], names["second"]) == (1, [2])
    first += 1
    assert (first, inner()) == (2, [2])


def test_the_dictionary_that_the_program_got_from_locals_is_its_own() -> None:
    first = 1
    mine = locals()
    assert local_variables(sys._getframe())["first"] == first
    assert mine["first"] == 1


@pytest.mark.parametrize("event", ["call", "line", "exception", "return"])
def test_a_program_that_is_traced_keeps_its_variables(event: str) -> None:
    """Another thread reads variables while the trace function runs. Then Python writes its copy of them back."""
    looked = []

    def traced(number: int) -> list[int]:
        numbers = [number]
        for each in generated(number):
            numbers.append(each)
        try:
            raise ValueError(number)
        except ValueError:
            numbers.append(number)
        return numbers

    def generated(number: int) -> Iterator[int]:
        each = 0
        while each < number:
            yield each
            each += 1

    def trace(frame: FrameType, happened: str, _: Any) -> Any:
        if happened == event and frame.f_code in (traced.__code__, generated.__code__):
            thread = threading.Thread(target=lambda: looked.append(dict(local_variables(frame))))
            thread.start()
            thread.join()
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        numbers = traced(3)
    finally:
        sys.settrace(before)
    assert numbers == [3, 0, 1, 2, 3]
    assert looked[0]["number"] == 3


def test_the_names_of_a_module_and_of_a_class_body_are_their_own() -> None:
    frames: dict[str, Any] = {}
    source = "here = 1\nclass Body:\n    inside = 2\n    look(sys._getframe())\nlook(sys._getframe())"
    names = {"sys": sys, "look": lambda frame: frames.update({frame.f_code.co_name: local_variables(frame)})}
    exec(source, names)
    assert frames["<module>"] is names
    assert frames["Body"]["inside"] == 2
