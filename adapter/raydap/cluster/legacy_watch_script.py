"""Lists the breakpoints of Ray's old debugger again and again, with Ray's own code, in a process of its own.

legacy_watch.py runs this file as a script, and sends JSON objects, one a line: first `{"address": HOST:PORT}` of the
GCS, then any number of `{"forget": KEY}`, an entry that nobody needs any more. What comes back are lines, too, one each
POLL_S: `{"entries": ...}` as ray_query_script.legacy_entries gives them, or `{"error": ...}` and the end. It ends with
its standard input.
"""

import json
import os
import select
import sys
from collections.abc import Callable, Mapping
from typing import Any

from raydap.cluster import ray_query_script

POLL_S = 1.0
"""Seconds between two looks. One takes less than 1 ms of the GCS."""

PREFIX = "RAY_PDB_"
"""How the keys of all entries begin. Nothing else is forgotten here."""


def watch(commands: int, write: Callable[[Mapping[str, Any]], None]) -> None:
    """`commands` is a file descriptor. Returns at its end; raises whatever Ray's client raises."""
    client: Any = None
    unread = b""
    while True:
        if select.select([commands], [], [], None if client is None else POLL_S)[0]:
            data = os.read(commands, 65536)
            if not data:
                return
            *lines, unread = (unread + data).split(b"\n")
            for line in lines:
                command = json.loads(line)
                if "address" in command:
                    client = ray_query_script.gcs_client(command["address"])
                elif client is not None and command["forget"].startswith(PREFIX):
                    ray_query_script.forget_legacy(client, command["forget"])
        if client is not None:
            write({"entries": ray_query_script.legacy_entries(client)})


def main() -> None:
    # Only our lines may be on standard output, and modules of this folder must not hide modules that Ray imports.
    reply = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.path = [folder for folder in sys.path if os.path.abspath(folder or ".") != os.path.dirname(__file__)]
    import ray  # noqa: F401  # Makes the packages that Ray ships importable.

    def write(line: Mapping[str, Any]) -> None:
        reply.write(json.dumps(line) + "\n")
        reply.flush()

    try:
        watch(0, write)
    except BrokenPipeError:
        pass
    except Exception as error:
        write({"error": f"{type(error).__name__}: {error}"})


if __name__ == "__main__":
    main()
