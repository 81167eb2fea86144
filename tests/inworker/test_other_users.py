"""Another user of the machine gets nothing from an agent or a driver, even if the modes of the sockets allow it.

tests/users has the tests of raydap's own sockets.
"""

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from raydap.inworker import driver_agent
from support.agents import PreparedProgram, read_line
from support.other_users import listening_stranger, needs_root, received

pytestmark = needs_root

WAIT = 30.0

SLEEP = "import time; time.sleep(1000)"


@pytest.fixture
def folder() -> Iterator[Path]:
    """Yield a folder that all users can enter and write to."""
    with tempfile.TemporaryDirectory(prefix="raydap-") as name:
        os.chmod(name, 0o777)
        yield Path(name)


def let_in(path: str) -> None:
    """Open a socket to all users, as on systems that ignore a socket's mode."""
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    os.chmod(path, 0o777)


def test_an_agent_says_nothing_to_them(folder: Path, children: ExitStack) -> None:
    program = PreparedProgram.start(SLEEP, folder, None, children)
    program.called().close()
    connection = program.dial()
    read_line(connection)
    connection.close()
    path = str(folder / f"raydap-{program.child.process.pid}")
    assert received(path) == "kept out"
    let_in(path)
    assert received(path) == "received b''"


def test_a_driver_does_not_report_its_cluster_to_them(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver would wait for their answer in ray.init()."""
    monkeypatch.setattr(driver_agent, "CALL_TIMEOUT_S", WAIT)
    path = str(folder / "raydap-call-1-1")
    with listening_stranger(path) as sent:
        assert driver_agent._send_report(path, {"cluster": "secret"}) is None
        assert sent() == "received b''\n"
