"""Walks through every stop of a Ray job in one debug session, and prints what it sees: `make demo`.

It starts a Ray cluster on loopback, trainer.py as a job on it, and the bridge, and ends all of them when it exits.
"""

import argparse
import contextlib
import re
import signal
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from connect import instructions
from dap_client import Client, RequestFailed
from local_cluster import Child, ChildFailed, Cluster
from rich.console import Console
from rich.markup import escape
from trainer import expected_stops

TRAINER = Path(__file__).with_name("trainer.py")
console = Console(highlight=False, soft_wrap=True)


@dataclass(frozen=True)
class Stop:
    """One stop of a thread."""

    thread_id: int
    reason: str
    name: str
    """The name of the thread: `task · pid · node` or `Actor pid · method · node`."""

    @property
    def worker(self) -> str:
        """The pid and the node, which are the same in all stops of one worker."""
        pid = re.search(r"\d+(?= · )", self.name)
        return f"{pid and pid[0]} {self.name.rpartition(' · ')[2]}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, default=3, help="rollout workers (default %(default)s)")
    parser.add_argument("--iterations", type=int, default=2, help="training iterations (default %(default)s)")
    parser.add_argument("--keep", action="store_true", help="leave cluster, job and bridge running for an editor")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    # A shell that starts this in the background makes it ignore SIGINT, but it must end its processes then.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with contextlib.ExitStack() as children:
            try:
                return run(options, children)
            finally:
                # The processes are ended now, and a second Ctrl-C would leave some of them behind.
                signal.signal(signal.SIGINT, signal.SIG_IGN)
    except KeyboardInterrupt:
        console.print("\ninterrupted; cluster, job and bridge are ended")
        return 130
    except (ChildFailed, ConnectionError, TimeoutError, RequestFailed) as error:
        console.print(f"[red]the demo failed:[/] {escape(str(error))}")
        return 1


def run(options: argparse.Namespace, children: contextlib.ExitStack) -> int:
    console.print("starting a Ray cluster on this machine ...")
    cluster = children.enter_context(Cluster())
    console.print("starting the bridge and the job ...")
    bridge_command = [sys.executable, "-m", "raydap", "adapter", "--listen", "127.0.0.1:0"]
    bridge = children.enter_context(Child(bridge_command, cluster.directory / "bridge.log"))
    # The stack ends the job before the bridge: without the bridge, workers would run to their next breakpoint().
    job = children.enter_context(start_job(cluster, options))
    host, port = bridge.wait_for(r"raydap listening on ([\d.]+):(\d+)").groups()
    console.print(f"dashboard {cluster.dashboard}, bridge {host}:{port}")
    if options.keep:
        children.pop_all()
        keep(cluster, job, bridge, host, int(port))
        return 0
    expected = expected_stops(options.workers, options.iterations) + 1
    with Client.connect(host, int(port), timeout=60) as client:
        arguments = {"dashboard": cluster.dashboard}
        lines = {str(TRAINER): [line_of_editors_breakpoint()]}
        capabilities = {"supportsInvalidatedEvent": True}
        client.start_session("attach", arguments, breakpoints=lines, filters=["uncaught"], **capabilities)
        console.print("attached; Ray starts the workers of the job, and the first of them stops soon ...\n")
        stops = [next_stop(client, f"{number}/{expected}") for number in range(1, expected + 1)]
        code = job.wait()
        seen = sum(event["event"] == "stopped" for event in client.events)
    return summarise(stops, seen, expected, code, job)


def start_job(cluster: Cluster, options: argparse.Namespace) -> Child:
    """Start the job. It begins when a session has attached, so no stop comes before the first breakpoint is set."""
    command = [sys.executable, "-m", "raydap", "run", "--wait", str(TRAINER)]
    command += [f"--workers={options.workers}", f"--iterations={options.iterations}"]
    return Child(command, cluster.directory / "job.log", {"RAY_ADDRESS": cluster.address})


def line_of_editors_breakpoint() -> int:
    """Return a line without `breakpoint()`, where only a breakpoint of this client stops."""
    lines = TRAINER.read_text().splitlines()
    return 1 + next(
        number for number, line in enumerate(lines) if line.endswith("# Only an editor's breakpoint stops here.")
    )


def next_stop(client: Client, number: str) -> Stop:
    """Wait for the next stop, print it, and resume its worker."""
    body = client.wait_event("stopped")
    frames = client.request("stackTrace", threadId=body["threadId"])["stackFrames"]
    mine = [frame for frame in frames if frame.get("presentationHint") not in ("subtle", "label")] or frames
    name = thread_name(client, body["threadId"], function=mine[0]["name"])
    stop = Stop(body["threadId"], body["reason"], name)
    console.print(f"[bold]{number}  {escape(stop.name)}[/]")
    console.print(f"    {escape(stop.reason)} at {escape(place(mine[0], full=True))}")
    if stop.reason == "exception":
        info = client.request("exceptionInfo", threadId=stop.thread_id)
        console.print(f"    [red]{escape(info['exceptionId'])}: {escape(info.get('description') or '')}[/]")
    console.print("    frames: " + escape(", ".join(f"{frame['name']} ({place(frame)})" for frame in mine)))
    console.print("    locals: " + escape("\n            ".join(local_variables(client, mine[0]))) + "\n")
    client.request("continue", threadId=stop.thread_id)
    return stop


def thread_name(client: Client, thread_id: int, function: str) -> str:
    """Return the thread's name, when it is complete: Ray must have listed the task that runs `function`.

    raydap does not delay a stop for its name, so the first name may be only the actor's class, or "worker".
    """
    while True:
        threads = client.request("threads")["threads"]
        name: str = next(thread["name"] for thread in threads if thread["id"] == thread_id)
        if function in name or name.startswith("driver"):
            return name
        try:
            client.wait_event("thread", lambda body: body["threadId"] == thread_id, timeout=3)
        except TimeoutError:
            return name


def place(frame: dict[str, Any], full: bool = False) -> str:
    path = frame.get("source", {}).get("path", "?")
    return f"{path if full else Path(path).name}:{frame['line']}"


def local_variables(client: Client, frame: dict[str, Any]) -> list[str]:
    scopes = client.request("scopes", frameId=frame["id"])["scopes"]
    variables = client.request("variables", variablesReference=scopes[0]["variablesReference"])["variables"]
    shown = [variable for variable in variables if not variable["name"].endswith(" variables")]
    return [f"{variable['name']} = {textwrap.shorten(variable['value'], 90)}" for variable in shown]


def summarise(stops: list[Stop], seen: int, expected: int, code: int, job: Child) -> int:
    workers = {stop.worker for stop in stops}
    # Each worker here has one thread, which keeps its id as long as the bridge is attached to the worker.
    reattachments = len({stop.thread_id for stop in stops}) - len(workers)
    results = [line for line in job.output.splitlines() if line.startswith("result:")]
    console.print(f"stops seen: {seen} of {expected}")
    console.print(f"workers: {len(workers)}")
    console.print(f"re-attachments: {reattachments}")
    console.print(f"job: exit code {code}, {results[0] if results else 'no result'}")
    return 0 if (seen, reattachments, code) == (expected, 0, 0) and results else 1


def keep(cluster: Cluster, job: Child, bridge: Child, host: str, port: int) -> None:
    print(instructions(host, port, cluster.dashboard))
    print(f"The job begins when your editor has attached; its output is in {job.log}.")
    print(f"Ray cluster: pid {cluster.child.pid}, job: pid {job.pid}, bridge: pid {bridge.pid}. To end them:")
    ray = cluster.child.pid  # This process ends its children first. Until then they write below the directory.
    print(f"  kill {job.pid} {bridge.pid} {ray}; while kill -0 {ray}; do sleep 1; done; rm -r {cluster.directory}")


if __name__ == "__main__":
    sys.exit(main())
