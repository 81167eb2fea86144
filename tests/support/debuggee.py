"""Real debugpy without Ray, for quick tests: a program that waits for a client."""

from dataclasses import dataclass
from pathlib import Path

from local_cluster import Child

from support import fork_server


@dataclass(frozen=True)
class Debuggee:
    """A program in debugpy. `host` and `port` are the address of its adapter, and `path` is the program's file."""

    child: Child
    path: Path
    host: str
    port: int

    @classmethod
    def start(cls, source: str, directory: Path, packages: Path | None = None) -> "Debuggee":
        """Start `source` in `directory`; it waits for a client before its first line. The caller ends `child`.

        `packages` is a folder with another debugpy than the one of this environment.
        """
        number = len(list(directory.glob("debuggee*.py")))
        path = directory / f"debuggee{number}.py"
        path.write_text(source)
        child = fork_server.programs(packages).start([str(path)], path.with_suffix(".log"))
        try:
            host, port = child.wait_for(r"listening on ([\d.]+):(\d+)").groups()
        except BaseException:
            child.end()
            raise
        return cls(child, path, host, int(port))
