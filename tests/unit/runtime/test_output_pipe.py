"""The pipe for a program's output delivers everything, and a writer neither fails nor waits."""

import asyncio
import os

from raydap.runtime.output_pipe import OutputPipe

MORE_THAN_PIPES_HOLD = b"x" * 1_000_000


def write(sink: int) -> None:
    try:
        data = memoryview(MORE_THAN_PIPES_HOLD)
        while data:
            data = data[os.write(sink, data) :]
    finally:
        os.close(sink)


def test_nothing_arrives_before_it_is_read() -> None:
    """A quick program writes before asyncio reports its start."""

    async def main() -> bytes:
        received = bytearray()
        ended, other_ended = asyncio.Event(), asyncio.Event()
        pipe = OutputPipe(received.extend, ended.set)
        sink = await pipe.open()
        os.write(sink, b"early")
        os.close(sink)
        other = OutputPipe(lambda data: None, other_ended.set)
        os.close(await other.open())
        other.read()
        # When a pipe that was opened later has ended, this one would have, too.
        await asyncio.wait_for(other_ended.wait(), 20)
        assert not received
        assert not ended.is_set()
        pipe.read()
        await asyncio.wait_for(ended.wait(), 20)
        return bytes(received)

    assert asyncio.run(main()) == b"early"


def test_all_that_is_written_arrives_before_the_end() -> None:
    async def main() -> bytes:
        received = bytearray()
        ended = asyncio.Event()
        pipe = OutputPipe(received.extend, ended.set)
        sink = await pipe.open()
        writing = asyncio.create_task(asyncio.to_thread(write, sink))
        pipe.read()
        await writing
        await asyncio.wait_for(ended.wait(), 20)
        return bytes(received)

    assert asyncio.run(main()) == MORE_THAN_PIPES_HOLD


def test_a_program_keeps_writing_when_nothing_reads() -> None:
    async def main() -> None:
        ended = asyncio.Event()
        pipe = OutputPipe(lambda data: None, ended.set)
        sink = await pipe.open()
        pipe.read()
        pipe.close()
        await asyncio.wait_for(ended.wait(), 20)
        await asyncio.wait_for(asyncio.to_thread(write, sink), 20)

    asyncio.run(main())
