"""Programs in a Ray Debug Terminal of VS Code: they ask for a session, and wait until it has set its breakpoints.

The tests stand in for the extension (vscode-ext/src/debug/debug-terminal.ts).
"""

import socket
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest
from dap_client import Client
from local_cluster import Child, Cluster

from raydap.runtime import prepared_environment
from support.agents import read_line
from support.look import go_on, line_of, user_frames

PROGRAM = """\
import os
import ray

@ray.remote(num_cpus=0.1)
def double(number):
    return number * 2  # in the first task

ray.init()
left = [name for name in ("RAYDAP_TERMINAL", "PYTHONPATH") if name in os.environ]
print(f"result: {ray.get(double.remote(21))} {left}", flush=True)  # in the driver
"""

LAUNCHER = """\
import subprocess, sys
sys.exit(subprocess.call([sys.executable, "program.py"]))
"""

Run = Callable[..., Child]


@pytest.fixture
def extension(tmp_path: Path, children: ExitStack) -> socket.socket:
    """The socket on which the extension listens."""
    listener = children.enter_context(socket.socket(socket.AF_UNIX))
    listener.bind(str(tmp_path / "extension"))
    listener.listen()
    listener.settimeout(30)
    return listener


@pytest.fixture
def run(cluster: Cluster, tmp_path: Path, children: ExitStack) -> Run:
    """Return `run(text, env)`, which runs the text as a program in a Ray Debug Terminal."""
    (tmp_path / "program.py").write_text(PROGRAM)

    def start(text: str, env: dict[str, str] | None = None) -> Child:
        (tmp_path / "main.py").write_text(text)
        given = {"RAY_ADDRESS": cluster.address, "RAYDAP_TERMINAL": str(tmp_path / "extension")}
        environment = {**given, **prepared_environment.driver({}), **(env or {})}
        return children.enter_context(Child([sys.executable, "main.py"], tmp_path / "log", environment, tmp_path))

    return start


def result(child: Child) -> str:
    """Return the last line of a program that has ended without an error."""
    assert child.wait() == 0, child.output
    return child.output.splitlines()[-1]


@pytest.mark.core
@pytest.mark.parametrize("launched_by_python", [False, True])
def test_a_program_stops_in_its_first_task_and_ends_its_session(
    client: Client, cluster: Cluster, extension: socket.socket, run: Run, tmp_path: Path, launched_by_python: bool
) -> None:
    file = tmp_path / ("program.py" if launched_by_python else "main.py")
    child = run(LAUNCHER if launched_by_python else PROGRAM)
    program, _ = extension.accept()
    program.settimeout(30)
    with program:
        asked = read_line(program)
        assert asked == {"pid": asked["pid"], "program": file.name, "cluster": cluster.dashboard}
        breakpoints = {str(file): [line_of(PROGRAM, "# in the first task"), line_of(PROGRAM, "# in the driver")]}
        client.start_session("attach", {"dashboard": asked["cluster"]}, breakpoints=breakpoints)
        program.send(b"\n")
        lines = set()
        for _ in range(2):
            stop = client.wait_event("stopped")
            lines.add(user_frames(client, stop)[0]["line"])
            go_on(client, stop)
        assert lines == set(breakpoints[str(file)])
        assert program.recv(1) == b"", "the program has ended, and so ends its session"
    assert result(child) == "result: 42 []"


def test_a_program_without_ray_and_a_forbidden_one_ask_for_no_session(extension: socket.socket, run: Run) -> None:
    child = run("import sys, os; print('path:', [each for each in sys.path if 'at_start' in each])")
    assert result(child) == "path: []"
    child = run(PROGRAM, {"RAYDAP": "off"})
    assert result(child) == "result: 42 []"
    extension.setblocking(False)
    with pytest.raises(BlockingIOError):
        extension.accept()


def test_a_program_runs_on_without_its_window(extension: socket.socket, run: Run) -> None:
    child = run(PROGRAM)
    extension.accept()[0].close()
    assert result(child) == "result: 42 []"
    extension.close()
    child = run(PROGRAM)
    assert result(child) == "result: 42 []"
    assert "Open a new one" in child.output
