"""Ctrl-C and SIGTERM, as something to wait for."""

import asyncio
import signal


def end_signal() -> "asyncio.Future[None]":
    """Done when the user wants the process to end. Needs a running event loop."""
    loop = asyncio.get_running_loop()
    ended = loop.create_future()

    def end() -> None:
        if not ended.done():
            ended.set_result(None)

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, end)
    return ended
