"""Subprocesses, signals, executors and sockets in an event loop of uvloop."""

import asyncio
import os
import signal
import sys

import uvloop


async def main():
    loop = asyncio.get_running_loop()
    print(type(loop).__module__)
    arrived = asyncio.Event()
    loop.add_signal_handler(signal.SIGUSR1, arrived.set)
    os.kill(os.getpid(), signal.SIGUSR1)
    await arrived.wait()
    commands = [[sys.executable, "-c", f"import sys; print({number}); sys.exit({number})"] for number in range(3)]
    print(await asyncio.gather(*map(run, commands)))
    print(await asyncio.gather(*(loop.run_in_executor(None, pow, 2, number) for number in range(4))))
    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    writer.write(b"hello\n")
    print(await reader.readline())
    writer.close()
    server.close()
    try:
        await asyncio.wait_for(asyncio.sleep(60), 0.02)
    except asyncio.TimeoutError:
        print("timed out")


async def run(command):
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    output, _ = await process.communicate()
    return output, process.returncode


async def echo(reader, writer):
    writer.write(await reader.readline())
    await writer.drain()
    writer.close()


loop = uvloop.new_event_loop()
loop.run_until_complete(main())
loop.close()
