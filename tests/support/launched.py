"""A program that raydap launches on a Ray cluster, and its stops."""

from pathlib import Path
from typing import Any

from dap_client import Client
from local_cluster import Cluster

from support.look import bodies, user_frames

# The driver and two tasks start a Python process each.
STARTS_PYTHONS = """\
import os
import subprocess
import sys
import ray

def double(number):
    return number * 2  # in a child

def exit_code(file, number):
    return subprocess.run([sys.executable, file, str(number)]).returncode

@ray.remote(num_cpus=0.1)
def run(file, number):
    return exit_code(file, number)

if __name__ == "__main__" and sys.argv[1:]:
    sys.exit(double(int(sys.argv[1])))
elif __name__ == "__main__":
    ray.init()
    file = os.path.abspath(__file__)
    values = [exit_code(file, 1), *ray.get([run.remote(file, number) for number in (2, 3)])]
    print("result: " + str(values))  # in the driver
"""


def start(
    client: Client,
    cluster: Cluster,
    folder: Path,
    source: str,
    *texts: str,
    env: dict[str, str] | None = None,
    **more: Any,
) -> Client:
    """Launch a program with breakpoints at the lines that contain these texts."""
    program = folder / "program.py"
    program.write_text(source)
    environment = {"RAY_ADDRESS": cluster.address, **(env or {})}
    where = {"dashboard": cluster.dashboard, "program": str(program), "cwd": str(folder), "env": environment}
    breakpoints = {str(program): [line_of(source, text) for text in texts]}
    arguments = {**where, **more}
    client.start_session(
        "launch", arguments, breakpoints=breakpoints, filters=["uncaught"], supportsInvalidatedEvent=True
    )
    return client


def line_of(source: str, text: str) -> int:
    (line,) = (number for number, line in enumerate(source.splitlines(), 1) if text in line)
    return line


def stopped_line(client: Client, stop: dict[str, Any]) -> str:
    frame = user_frames(client, stop)[0]
    line: str = Path(frame["source"]["path"]).read_text().splitlines()[frame["line"] - 1]
    return line


def ended(client: Client) -> str:
    """Wait for the program to exit with code 0, and return its output."""
    code = client.wait_event("exited")["exitCode"]
    output = "".join(body["output"] for body in bodies(client, "output"))
    assert code == 0, output
    return output
