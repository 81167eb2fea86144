"""The work of `raydap up` and `raydap down`: start a hub inside a cluster, and end it.

The callback `print_result` prints a result for the user. `up` and `down` raise ProblemError, and OSError if the
connection file cannot be kept.
"""

import os
from collections.abc import Callable
from pathlib import Path

from raydap.cluster.dashboard.rest import Rest
from raydap.cluster.jobs.ray_job import RayJob
from raydap.hub import connection_file, directions, hub_job, hub_token
from raydap.hub.connection_file import ConnectionInfo
from raydap.hub.hub_job import HubJobOptions
from raydap.hub.server import is_loopback
from raydap.transport import runtime_folder

Print = Callable[[str], None]


async def up(rest: Rest, options: HubJobOptions, replace: bool, print_result: Print, note: Print) -> None:
    """Start a hub, or show how to reach one that already runs unless `replace` is true.

    `note` prints what is not part of the result.
    """
    folder = runtime_folder.directory()
    if not is_loopback(options.listen[0]):
        note("warning: without TLS the token and all data cross the network unencrypted.")
    hubs = await hub_job.find_hubs(rest)
    if hubs.running and not replace:
        note("A hub already runs in the cluster; --replace ends it and starts a new one.")
        await _show_running(rest, hubs.running[0], print_result)
        return
    for job in hubs.running:
        await _end(job, print_result)
    token = hub_token.new()
    note(f"Starting the hub as the job {hubs.next_name} ...")
    try:
        hub = await hub_job.start(rest, hubs.next_name, options, hub_token.digest(token), os.environ)
    except hub_job.NameTaken:
        # Another `raydap up` has started a hub at the same time. Show that hub, or start ours if it has already ended.
        await up(rest, options, False, print_result, note)
        return
    host = await directions.direct_host(hub)
    info = ConnectionInfo(host or "127.0.0.1", hub.port, False, token, 0, rest.url)
    path = connection_file.write(info, folder / _file(hub.job))
    print_result(directions.describe(hub, host, info.url))
    print_result(f"\nThe token is {token}\nIt is also in {path}, where `raydap connect` finds it.")
    print_result(f"To end the hub: raydap down --dashboard {rest.where}")


async def down(rest: Rest, print_result: Print) -> None:
    """End all hubs that `up` started in the cluster."""
    jobs = (await hub_job.find_hubs(rest)).running
    for job in jobs:
        await _end(job, print_result)
    if not jobs:
        print_result(f"No hub that `raydap up` started runs in the cluster at {rest.where}.")


async def _show_running(rest: Rest, job: RayJob, print_result: Print) -> None:
    hub = await hub_job.wait_until_serving(rest, job)
    host = await directions.direct_host(hub)
    path = runtime_folder.directory() / _file(hub.job)
    print_result(directions.describe(hub, host, ConnectionInfo(host or "127.0.0.1", hub.port, False, None, 0).url))
    if path.exists():
        print_result(f"\nIts token is in {path}, where `raydap connect` finds it.")
    else:
        print_result("\nIts token is only on the machine that started the hub.")


async def _end(job: RayJob, print_result: Print) -> None:
    await hub_job.stop(job)
    (runtime_folder.directory() / _file(job.id)).unlink(missing_ok=True)
    print_result(f"The hub {job.id} has detached from its workers and ended.")


def _file(job: str) -> Path:
    return Path(f"{job}.json")
