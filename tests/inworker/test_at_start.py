"""A program that raydap starts is an ordinary one, except for its agent."""

import json
import os
import socket
import sys
from collections.abc import Callable
from contextlib import ExitStack
from importlib import resources
from pathlib import Path

import pytest
from local_cluster import Child

from support.agents import read_line

PROGRAM = """\
import os, sys
assert __name__ == "__main__" and sys.modules["__main__"].__file__ == __file__, __file__
print("path", [each for each in sys.path if "at_start" in each])
print("environment", os.environ.get("PYTHONPATH"), [name for name in os.environ if "AGENT" in name or "HOOK" in name])
print("arguments", sys.argv[1:])
print("theirs", getattr(sys, "theirs", None))
"""

Start = Callable[..., tuple[Child, socket.socket]]

pytestmark = pytest.mark.core


@pytest.fixture
def start(tmp_path: Path, children: ExitStack) -> Start:
    def start(*paths: Path, module: bool = False) -> tuple[Child, socket.socket]:
        (tmp_path / "program.py").write_text(PROGRAM)
        listener = children.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
        listener.settimeout(30)
        listener.bind(str(tmp_path / "raydap"))
        listener.listen()
        at_start = str(resources.files("raydap.inworker").joinpath("at_start"))
        settings = {"raydap": str(tmp_path / "raydap"), "folder": str(tmp_path), "children": True}
        environment = {
            "PYTHONPATH": os.pathsep.join([at_start, *map(str, paths)]),
            "RAYDAP_AGENT": json.dumps(settings),
        }
        what = ["-m", "program"] if module else [str(tmp_path / "program.py")]
        child = children.enter_context(Child([sys.executable, *what, "-x"], tmp_path / "log", environment))
        return child, children.enter_context(listener.accept()[0])

    return start


@pytest.mark.parametrize("module", [False, True])
def test_it_waits_for_raydap_and_finds_nothing_changed(start: Start, tmp_path: Path, module: bool) -> None:
    child, connection = start(tmp_path, module=module)
    connection.settimeout(30)
    said = read_line(connection)
    assert (said["worker_type"], said["pid"]) == ("DRIVER", child.process.pid)
    assert child.process.poll() is None
    connection.close()
    assert child.wait() == 0, child.output
    given = f"environment {tmp_path} []"
    assert child.output.splitlines() == ["path []", given, "arguments ['-x']", "theirs None"]


def test_a_sitecustomize_of_the_users_is_imported(start: Start, tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "sitecustomize.py").write_text("import sys\nsys.theirs = True\n")
    child, connection = start(tmp_path / "theirs")
    connection.close()
    assert child.wait() == 0, child.output
    assert "theirs True" in child.output
