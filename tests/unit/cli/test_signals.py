"""The signals that end a command."""

import asyncio
import os
import signal
from collections.abc import Iterator

import pytest

from raydap.cli import signals


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    """Handle the signals as in a new Python: who has started the tests, such as `nohup`, may ignore some of them."""
    kept = {number: signal.getsignal(number) for number in signals.ENDING}
    for number in signals.ENDING:
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    yield
    for number, handler in kept.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_cancels_the_work_which_undoes_what_it_has_begun(number: signal.Signals) -> None:
    undone = []

    async def work() -> int:
        try:
            os.kill(os.getpid(), number)
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            undone.append(number)
        return 0

    with pytest.raises(SystemExit) as ended:
        signals.run(work())
    assert ended.value.code == 128 + number
    assert undone == [number]


def test_work_that_cannot_write_its_end_still_ends() -> None:
    async def work() -> int:
        try:
            os.kill(os.getpid(), signal.SIGHUP)
            await asyncio.Event().wait()
        finally:
            raise OSError("the terminal is gone")

    with pytest.raises(SystemExit) as ended:
        signals.run(work())
    assert ended.value.code == 128 + signal.SIGHUP


def test_results_and_errors_are_those_of_the_work() -> None:
    async def work(fails: bool) -> int:
        if fails:
            raise ValueError("odd")
        return 3

    assert signals.run(work(False)) == 3
    with pytest.raises(ValueError, match="odd"):
        signals.run(work(True))


def test_ctrl_c_is_a_keyboard_interrupt() -> None:
    async def work() -> int:
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.Event().wait()
        return 0

    with pytest.raises(KeyboardInterrupt):
        signals.run(work())


def test_an_ignored_signal_stays_ignored() -> None:
    """`nohup` ignores SIGHUP."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)

    async def work() -> int:
        ended = signals.end_signal()
        os.kill(os.getpid(), signal.SIGHUP)
        os.kill(os.getpid(), signal.SIGTERM)
        return await ended

    assert signals.run(work()) == signal.SIGTERM
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
