"""Subprocesses, signals, executors and debug mode in asyncio's own event loop."""

import asyncio
import os
import signal
import sys


async def main():
    loop = asyncio.get_running_loop()
    arrived = asyncio.Event()
    loop.add_signal_handler(signal.SIGUSR1, arrived.set)
    os.kill(os.getpid(), signal.SIGUSR1)
    await arrived.wait()
    commands = [[sys.executable, "-c", f"import sys; print({number}); sys.exit({number})"] for number in range(3)]
    print(await asyncio.gather(*map(run, commands)))
    shell = await asyncio.create_subprocess_shell("cat; exit 5", stdin=asyncio.subprocess.PIPE, stdout=-1)
    print(await shell.communicate(b"to a shell"), shell.returncode)
    sleeping = await asyncio.create_subprocess_exec("sleep", "60")
    sleeping.send_signal(signal.SIGTERM)
    print(await sleeping.wait())
    print(await asyncio.gather(*(asyncio.to_thread(pow, 2, number) for number in range(4))))
    task = asyncio.create_task(asyncio.sleep(60), name="sleeping")
    await asyncio.sleep(0)
    task.cancel()
    print(await asyncio.gather(task, return_exceptions=True))
    print(sorted(each.get_name() for each in asyncio.all_tasks()))


async def run(command):
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    output, _ = await process.communicate()
    return output, process.returncode


async def interrupted():
    asyncio.get_running_loop().call_soon(os.kill, os.getpid(), signal.SIGINT)
    await asyncio.sleep(60)


asyncio.run(main(), debug=True)
try:
    asyncio.run(interrupted())
except KeyboardInterrupt:
    print("interrupted")
