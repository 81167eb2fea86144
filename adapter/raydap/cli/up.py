"""Puts a hub into a cluster of which only the dashboard is reached, and takes it away again."""

import asyncio
import os
import textwrap
from collections.abc import Awaitable, Callable
from pathlib import Path

import click

from raydap.core.errors import ProblemError
from raydap.discovery.address import resolve
from raydap.discovery.rest import Rest
from raydap.discovery.submission import Submission
from raydap.hub import connection, deploy, reach, tokens
from raydap.hub.connection import Connection
from raydap.hub.deploy import Plan
from raydap.hub.serve import is_loopback


def up(dashboard: str | None, plan: Plan, replace: bool) -> int:
    """Returns the exit code. Ctrl-C before the hub serves stops its job."""
    return asyncio.run(_with_cluster(dashboard, lambda rest: _up(rest, plan, replace)))


def down(dashboard: str | None) -> int:
    """Returns the exit code: 0 also where no hub runs."""
    return asyncio.run(_with_cluster(dashboard, _down))


async def _up(rest: Rest, plan: Plan, replace: bool) -> None:
    folder = connection.directory()
    if not is_loopback(plan.listen[0]):
        click.echo("warning: without TLS the token and all data cross the network in the clear.", err=True)
    found = await deploy.survey(rest)
    if found.running and not replace:
        await _show_again(rest, found.running[0])
        return
    for job in found.running:
        await _end(job)
    token = tokens.new()
    click.echo(f"Starting the hub as the job {found.next} ...", err=True)
    try:
        hub = await deploy.start(rest, found.next, plan, tokens.digest(token), os.environ)
    except deploy.NameTaken:
        # Whoever was first is found now; if that hub has ended meanwhile, ours is started.
        await _up(rest, plan, replace=False)
        return
    host = await reach.directly(hub)
    known = Connection(host or "127.0.0.1", hub.port, False, token, 0, rest.url)
    path = connection.write(known, folder / _file(hub.job))
    click.echo(reach.directions(hub, host, known.url))
    click.echo(f"\nThe token is {token}\nIt is also in {path}, where `raydap connect` finds it by itself.")
    click.echo(f"To end the hub: raydap down --dashboard {rest.where}")


async def _show_again(rest: Rest, job: Submission) -> None:
    click.echo("A hub runs there already; --replace starts anew.", err=True)
    hub = await deploy.serving(rest, job)
    host = await reach.directly(hub)
    path = connection.directory() / _file(hub.job)
    click.echo(reach.directions(hub, host, Connection(host or "127.0.0.1", hub.port, False, None, 0).url))
    if path.exists():
        click.echo(f"\nIts token is in {path}, where `raydap connect` finds it by itself.")
    else:
        click.echo("\nIts token is known only where it was started.")


async def _down(rest: Rest) -> None:
    jobs = (await deploy.survey(rest)).running
    for job in jobs:
        await _end(job)
    if not jobs:
        click.echo(f"No hub that `raydap up` started runs in the cluster at {rest.where}.")


async def _end(job: Submission) -> None:
    await deploy.stop(job)
    (connection.directory() / _file(job.id)).unlink(missing_ok=True)
    click.echo(f"The hub {job.id} has let its workers go and is gone.")


async def _with_cluster(dashboard: str | None, work: Callable[[Rest], Awaitable[None]]) -> int:
    try:
        rest = Rest((await resolve(dashboard, os.environ)).url, os.environ)
        try:
            await work(rest)
        finally:
            await rest.close()
    except ProblemError as error:
        click.echo(str(error.problem), err=True)
        if error.problem.detail:
            click.echo(textwrap.indent(error.problem.detail, "  "), err=True)
        return 1
    except OSError as error:
        click.echo(f"The connection file cannot be kept: {error}.", err=True)
        return 1
    return 0


def _file(job: str) -> Path:
    return Path(f"{job}.json")
