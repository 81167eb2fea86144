"""`raydap connect`: a hub as an adapter on stdio, for editors that start a program."""

import click


@click.command()
@click.argument("url", required=False)
@click.option("--token-file", metavar="FILE", help="The token is the first line of this file.")
@click.option("--tls-ca", metavar="FILE", help="Trust these certificates (PEM), too, such as a self-signed one.")
def connect(url: str | None, token_file: str | None, tls_ca: str | None) -> None:
    """Speak DAP on standard input and output for the hub at URL: ws://, wss://, tcp:// or tcps://HOST:PORT.

    Without URL it is the hub that was started last. Without --token-file the token is that of the environment variable
    RAYDAP_TOKEN, or that of the hub's connection file.
    """
    import asyncio
    import os

    from raydap.cli.adapter import on_signal
    from raydap.core.errors import Code, Problem, ProblemError
    from raydap.hub import connection, link, target, tokens

    where = token = problem = None
    try:
        if url is None:
            newest = connection.newest()
            if newest is None:
                text = "No hub of yours is known here; give its URL, or start one by raydap serve."
                raise ProblemError(Problem(Code.HUB_UNREACHABLE, text))
            url = newest.url
        where = target.parse(url)
        token = tokens.read(token_file) if token_file is not None else target.token_for(where, os.environ)
    except tokens.TokenError as error:
        problem = Problem(Code.HUB_REFUSED, str(error))
    except ProblemError as error:
        problem = error.problem

    async def run() -> int:
        return await link.carry(where, token, tls_ca, problem, on_signal(), lambda text: click.echo(text, err=True))

    raise SystemExit(asyncio.run(run()))
