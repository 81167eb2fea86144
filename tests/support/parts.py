"""Checks for parts of installed packages.

They run in another process, because a debuggee's modules disturb those of the test.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

_PROGRAM = """
import inspect, json, sys

def has(where, *names):
    absent = [name for name in names if not hasattr(where, name)]
    return not absent or f"{where!r} has no {', '.join(absent)}"

def takes(function, *names):
    absent = [name for name in names if name not in inspect.signature(function).parameters]
    return not absent or f"{function.__qualname__} takes no {', '.join(absent)}"

def source(what, *texts):
    absent = [text for text in texts if text not in inspect.getsource(what)]
    return not absent or f"the source has no {absent}"

imports, checks = json.loads(sys.argv[1])
exec(imports)
found = {}
for check in checks:
    try:
        found[check] = "" if (said := eval(check)) is True else str(said)
    except Exception as error:
        found[check] = repr(error)
print("found:", json.dumps(found))
"""


class Part(NamedTuple):
    """A part of a package that raydap uses.

    `check` is an expression that is True if the part is there, `user` names the code that uses it. `remedy` states what
    happens to users without it, and what to do.
    """

    check: str
    user: str
    remedy: str


def absent(imports: str, parts: Iterable[Part], packages: Path | None = None) -> Mapping[str, str]:
    """Return for each check why it fails, or "" if it succeeds.

    `imports` run before the checks. `packages` is the first folder of the search path.
    """
    environment = {**os.environ, **({} if packages is None else {"PYTHONPATH": str(packages)})}
    command = [sys.executable, "-Xfrozen_modules=off", "-c", _PROGRAM]
    arguments = json.dumps([imports, [part.check for part in parts]])
    done = subprocess.run([*command, arguments], timeout=120, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found: dict[str, str] = json.loads(done.stdout.rpartition("found: ")[2])
    return found
