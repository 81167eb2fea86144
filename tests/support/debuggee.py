"""Real debugpy without Ray: a program that waits for a client, for quick tests."""

from dataclasses import dataclass
from pathlib import Path

from local_cluster import Child

from support import fork_server


@dataclass(frozen=True)
class Debuggee:
    """`host` and `port` are where debugpy's adapter listens; `path` is the program's file."""

    child: Child
    path: Path
    host: str
    port: int

    @classmethod
    def start(cls, source: str, directory: Path, packages: Path | None = None) -> "Debuggee":
        """Starts `source` in `directory`; it waits for a client before its first line. The caller ends `child`.

        `packages` is a folder with another debugpy than that of this environment.
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
