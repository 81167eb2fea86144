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


def test_all_that_is_written_arrives_before_the_end() -> None:
    async def main() -> bytes:
        received = bytearray()
        ended = asyncio.Event()
        pipe = OutputPipe(received.extend, ended.set)
        await asyncio.to_thread(write, await pipe.open())
        await asyncio.wait_for(ended.wait(), 20)
        return bytes(received)

    assert asyncio.run(main()) == MORE_THAN_PIPES_HOLD


def test_a_program_keeps_writing_when_nothing_reads() -> None:
    async def main() -> None:
        ended = asyncio.Event()
        pipe = OutputPipe(lambda data: None, ended.set)
        sink = await pipe.open()
        pipe.close()
        await asyncio.wait_for(ended.wait(), 20)
        await asyncio.wait_for(asyncio.to_thread(write, sink), 20)

    asyncio.run(main())
