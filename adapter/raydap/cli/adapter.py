"""Runs one bridge: until its client leaves (stdio), or until the user ends it (TCP)."""

import asyncio
import signal

import click

from raydap.runtime.engine import Engine
from raydap.transport import stdio, tcp
from raydap.transport.peer import Peer


def run(listen: tuple[str, int] | None) -> int:
    """Returns the exit code. Ctrl-C and SIGTERM end it in order: every worker is let go first."""
    return asyncio.run(_serve_stdio() if listen is None else _serve_tcp(*listen))


async def _serve_stdio() -> int:
    ended = on_signal()
    engine = Engine()
    engine.connect(stdio.connect)
    left = asyncio.ensure_future(engine.wait_left())
    await asyncio.wait((left, ended), return_when=asyncio.FIRST_COMPLETED)
    await engine.close()
    left.cancel()
    return 0


async def _serve_tcp(host: str, port: int) -> int:
    ended = on_signal()
    engine = Engine()
    try:
        listener = await tcp.listen(host, port, lambda: engine.connect(Peer))
    except OSError as error:
        reason = error.strerror or str(error)
        click.echo(f"raydap cannot listen on {host}:{port}: {reason}; choose another port.", err=True)
        await engine.close()
        return 1
    engine.listening(listener.port)
    click.echo(f"raydap listening on {listener.host}:{listener.port}", err=True)
    await ended
    listener.close()
    await engine.close()
    return 0


def on_signal() -> "asyncio.Future[None]":
    """Done when the user wants the process to end."""
    loop = asyncio.get_running_loop()
    ended = loop.create_future()

    def end() -> None:
        if not ended.done():
            ended.set_result(None)

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, end)
    return ended
