"""The command `raydap connect`: a hub as an adapter on stdio, for editors that start a program."""

import os

import click

from raydap.cli import options


@click.command()
@click.argument("url", required=False)
@options.token_file
@options.tls_ca
def connect(url: str | None, token_file: str | None, tls_ca: str | None) -> None:
    """Connect an editor on standard input and output to the hub at URL: ws://, wss://, tcp:// or tcps://HOST:PORT.

    HOST:PORT alone means a WebSocket. Without URL, connects to the hub that was started last. Without --token-file, the
    token comes from the environment variable RAYDAP_TOKEN, or else from the hub's connection file.

    \b
    Examples:
      raydap connect
      raydap connect ws://127.0.0.1:4711/dap
      raydap connect wss://head.example.com:4711 --token-file ~/.raydap-token
    """
    import asyncio

    from raydap.cli.signals import end_signal
    from raydap.errors import Code, Problem, ProblemError
    from raydap.hub import connection_file, hub_address, hub_token, stdio_proxy

    address = token = problem = None
    try:
        if url is None:
            newest = connection_file.newest()
            if newest is None:
                text = "raydap knows no hub of yours on this machine; give its URL, or start one with raydap serve."
                raise ProblemError(Problem(Code.HUB_UNREACHABLE, text))
            url = newest.url
        address = hub_address.parse(url)
        token = hub_address.token_for(address, os.environ) if token_file is None else hub_token.read(token_file)
    except hub_token.TokenError as error:
        problem = Problem(Code.HUB_REFUSED, str(error))
    except ProblemError as error:
        problem = error.problem

    async def run() -> int:
        return await stdio_proxy.carry(address, token, tls_ca, problem, end_signal(), options.note)

    raise SystemExit(asyncio.run(run()))
