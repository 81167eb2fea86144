"""The command `raydap lsp`: the language server, on standard input and output or on TCP."""

import asyncio

import click

from raydap.cli import options
from raydap.cli.signals import end_signal
from raydap.transport import stdio, tcp
from raydap.transport.peer import Peer


@click.command()
@click.option("--listen", type=options.Address(), help="Serve LSP on this TCP address; port 0 chooses a free one.")
@options.log_file
@options.verbose
def lsp(listen: tuple[str, int] | None, log_file: str | None, verbose: bool) -> None:
    """Speak the Language Server Protocol, on standard input and output unless --listen is given.

    \b
    Examples:
      raydap lsp
      raydap lsp --listen 127.0.0.1:5679
    """
    options.start_log(log_file, verbose)
    raise SystemExit(asyncio.run(_serve_stdio() if listen is None else _serve_tcp(*listen)))


async def _serve_stdio() -> int:
    from raydap.lsp.connection import Connection

    ended = end_signal()
    connection = Connection(stdio.connect)
    await asyncio.wait((connection.ended, ended), return_when=asyncio.FIRST_COMPLETED)
    connection.close()
    await connection.peer.wait_closed()
    return connection.ended.result()


async def _serve_tcp(host: str, port: int) -> int:
    from raydap.lsp.connection import Connection

    ended = end_signal()
    connections: set[Connection] = set()

    def accept() -> Peer:
        connection = Connection(lambda on_message, on_gone, decoder: Peer(on_message, on_gone, decoder=decoder))
        connections.add(connection)
        connection.ended.add_done_callback(lambda _: connections.discard(connection))
        return connection.peer

    try:
        listener = await tcp.listen(host, port, accept)
    except OSError as error:
        reason = error.strerror or str(error)
        options.note(f"raydap cannot listen on {host}:{port}: {reason}; choose another port.")
        return 1
    options.note(f"raydap listening on {listener.host}:{listener.port}")
    await ended
    listener.close()
    peers = [connection.peer for connection in connections]
    for connection in list(connections):
        connection.close()
    for peer in peers:
        await peer.wait_closed()
    return 0
