"""The bridge as a user starts it: a process of its own, spoken to over TCP."""

import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from local_cluster import Child

from support import fork_server


@dataclass(frozen=True)
class Bridge:
    """`raydap adapter --listen`, and where it listens."""

    child: Child
    host: str
    port: int

    @classmethod
    def start(cls, log: Path, *options: str, env: dict[str, str] | None = None) -> "Bridge":
        """The caller calls `end`. Raises ChildFailed."""
        child = fork_server.RAYDAP.start(["adapter", "--listen", "127.0.0.1:0", *options], log, env)
        return cls(child, *_listens(child, "listening"))

    @classmethod
    def start_as_command(cls, log: Path) -> "Bridge":
        """The same, for tests of what recognises a raydap by its command line."""
        child = Child([sys.executable, "-m", "raydap", "adapter", "--listen", "127.0.0.1:0"], log)
        return cls(child, *_listens(child, "listening"))

    def end(self) -> None:
        """Ends the process; raises AssertionError if it died before, or ever printed a traceback."""
        died = self.child.process.poll()
        self.child.end()
        output = self.child.output
        assert died is None, f"the bridge died with code {died}:\n{output}"
        # A worker's traceback is behind the name of the worker, in the same line.
        assert not re.search("^Traceback", output, re.MULTILINE), output


@dataclass(frozen=True)
class Hub(Bridge):
    """`raydap serve`. `url` is its WebSocket; `connection` the connection file that it has written."""

    token: str
    connection: Path

    @classmethod
    def start(cls, log: Path, *options: str, env: dict[str, str] | None = None) -> "Hub":
        """Its connection file lies beside the log. The caller calls `end`. Raises ChildFailed."""
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
