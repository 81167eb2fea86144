"""The bridge as a user starts it: a process of its own, spoken to over TCP."""

import sys
from dataclasses import dataclass
from pathlib import Path

from local_cluster import Child


@dataclass(frozen=True)
class Bridge:
    """`raydap adapter --listen`, and where it listens."""

    child: Child
    host: str
    port: int

    @classmethod
    def start(cls, log: Path, *options: str, env: dict[str, str] | None = None) -> "Bridge":
        """The caller calls `end`. Raises ChildFailed."""
        command = [sys.executable, "-m", "raydap", "adapter", "--listen", "127.0.0.1:0", *options]
        child = Child(command, log, env)
        try:
            host, port = child.wait_for(r"raydap listening on ([\d.]+):(\d+)").groups()
        except BaseException:
            child.end()
            raise
        return cls(child, host, int(port))

    def end(self) -> None:
        """Ends the process; raises AssertionError if it died before, or ever printed a traceback."""
        died = self.child.process.poll()
        self.child.end()
        output = self.child.output
        assert died is None, f"the bridge died with code {died}:\n{output}"
        assert "Traceback (most recent call last)" not in output, output
