"""The command `raydap adapter`: one bridge, until its client leaves (stdio) or the user ends it (TCP)."""

import asyncio

import click

from raydap.cli import options, system_limits


@click.command()
@click.option("--listen", type=options.Address(), help="Serve DAP on this TCP address; port 0 chooses a free one.")
@options.log_file
@options.verbose
def adapter(listen: tuple[str, int] | None, log_file: str | None, verbose: bool) -> None:
    """Speak the Debug Adapter Protocol, on standard input and output unless --listen is given.

    \b
    Examples:
      raydap adapter
      raydap adapter --listen 127.0.0.1:5678
      raydap adapter --log-file raydap.log --verbose
    """
    options.start_log(log_file, verbose)
    system_limits.warn()
    # On Ctrl-C and SIGTERM, the bridge detaches from every worker before it ends.
    raise SystemExit(asyncio.run(_serve_stdio() if listen is None else _serve_tcp(*listen)))


async def _serve_stdio() -> int:
    # Imported here, because help and shell completion must stay fast.
    from raydap.cli.signals import end_signal
    from raydap.runtime.engine import Engine
    from raydap.runtime.session_socket import SessionSocket
    from raydap.transport import stdio

    ended = end_signal()
    engine = Engine()
    # After `disconnect`, editors wait for the end of the process, and send requests until then.
    engine.clients.connect(stdio.connect, kept=True)
    others = await SessionSocket.serve(engine.clients)
    left = asyncio.ensure_future(engine.clients.wait_left())
    await asyncio.wait((left, ended), return_when=asyncio.FIRST_COMPLETED)
    if others is not None:
        others.close()
    await engine.close()
    left.cancel()
    return 0


async def _serve_tcp(host: str, port: int) -> int:
    from raydap.cli.signals import end_signal
    from raydap.runtime.engine import Engine
    from raydap.runtime.session_socket import SessionSocket
    from raydap.transport import tcp
    from raydap.transport.peer import Peer

    ended = end_signal()
    engine = Engine()
    try:
        listener = await tcp.listen(host, port, lambda: engine.clients.connect(Peer))
    except OSError as error:
        reason = error.strerror or str(error)
        options.note(f"raydap cannot listen on {host}:{port}: {reason}; choose another port.")
        await engine.close()
        return 1
    engine.report_child_port(listener.port)
    others = await SessionSocket.serve(engine.clients)
    options.note(f"raydap listening on {listener.host}:{listener.port}")
    await ended
    listener.close()
    if others is not None:
        others.close()
    await engine.close()
    return 0
