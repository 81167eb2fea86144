"""The bridge as a user starts it: a separate process, connected over TCP."""

import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from local_cluster import Child

from support import fork_server


@dataclass(frozen=True)
class Bridge:
    """A running `raydap adapter --listen`, and its address."""

    child: Child
    host: str
    port: int

    @classmethod
    def start(cls, log: Path, *options: str, env: dict[str, str] | None = None) -> "Bridge":
        """Start the bridge. The caller calls `end`. Raises ChildFailed."""
        child = fork_server.RAYDAP.start(["adapter", "--listen", "127.0.0.1:0", *options], log, env)
        return cls(child, *_listens(child, "listening"))

    @classmethod
    def start_as_command(cls, log: Path) -> "Bridge":
        """Start the bridge as a command of its own, for tests of code that recognises raydap by its command line."""
        child = Child([sys.executable, "-m", "raydap", "adapter", "--listen", "127.0.0.1:0"], log)
        return cls(child, *_listens(child, "listening"))

    def end(self) -> None:
        """End the process. Raise AssertionError if it had already ended, or if it has ever printed a traceback."""
        died = self.child.process.poll()
        self.child.end()
        output = self.child.output
        assert died is None, f"the bridge died with code {died}:\n{output}"
        # The traceback of a worker follows the name of the worker in the same line, so it does not match.
        assert not re.search("^Traceback", output, re.MULTILINE), output


@dataclass(frozen=True)
class Hub(Bridge):
    """A running `raydap serve`. `url` is its WebSocket, and `connection` the connection file that it has written."""

    token: str
    connection: Path

    @classmethod
    def start(cls, log: Path, *options: str, env: dict[str, str] | None = None) -> "Hub":
        """Start a hub whose connection file is beside the log. The caller calls `end`. Raises ChildFailed."""
        connection = log.with_suffix(".json")
        command = ["serve", "--connection-file", str(connection), *options]
        child = fork_server.RAYDAP.start(command, log, env)
        host, port = _listens(child, "serving")
        try:
            child.wait_for("connection file: ")
            token = json.loads(connection.read_text())["token"]
        except BaseException:
            child.end()
            raise
        return cls(child, host, port, token, connection)

    @property
    def url(self) -> str:
        return f"ws://{self.host}:{self.port}/dap"


def _listens(child: Child, word: str) -> tuple[str, int]:
    try:
        host, port = child.wait_for(rf"raydap {word} on ([\d.]+):(\d+)").groups()
    except BaseException:
        child.end()
        raise
    return host, int(port)
