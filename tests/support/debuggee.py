"""Real debugpy without Ray: a program that waits for a client, for quick tests."""

import sys
from dataclasses import dataclass
from pathlib import Path

from local_cluster import Child

# The program runs from its own file, so that its line numbers are those of its source.
_RUN = """
import debugpy, runpy, sys
print("listening on %s:%d" % debugpy.listen(("127.0.0.1", 0)))
debugpy.wait_for_client()
runpy.run_path(sys.argv[1], run_name="__main__")
"""


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
        command = [sys.executable, "-X", "frozen_modules=off", "-c", _RUN, str(path)]
        environment = {} if packages is None else {"PYTHONPATH": str(packages)}
        child = Child(command, path.with_suffix(".log"), environment)
        try:
            host, port = child.wait_for(r"listening on ([\d.]+):(\d+)").groups()
        except BaseException:
            child.end()
            raise
        return cls(child, path, host, int(port))
