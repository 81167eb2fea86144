"""Bad environments for the commands of raydap: too few descriptors, a full disk, no home, closed streams."""

import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from support.raydap_command import environment


@dataclass(frozen=True)
class Condition:
    """A bad environment.

    `before` is Python that runs in the process before the command. `inside` runs at the start of raydap and of each
    Python that it starts. `env` is added to the environment. `hidden` names the streams that a test cannot read.
    """

    before: str = ""
    inside: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    hidden: str = ""


_C = "libc = __import__('ctypes').CDLL(None)\n"

# Long and unusual names, and a umask that denies access to all other users.
_UNUSUAL = """\
os.umask(0o077)
os.environ["TMPDIR"] = os.path.join(os.getcwd(), "d" * 100)
os.mkdir(os.environ["TMPDIR"])
"""
_UNUSUAL_HOST = f"{_C}if libc.unshare(0x4000000) == 0: libc.sethostname('m \u00fc'.encode(), 4)\n"

# As in a container whose user has no entry in /etc/passwd.
_NOBODY = """\
import pwd
def getpwuid(uid):
    raise KeyError(f"getpwuid(): uid not found: {uid}")
pwd.getpwuid = getpwuid
"""

# The clock jumps ten years forward or back at each reading.
_CLOCK = """\
import time
real, looks = time.time, 0
def jumping():
    global looks
    looks += 1
    return real() + (3e8, -3e8)[looks % 2]
time.time = jumping
time.time_ns = lambda: int(jumping() * 1e9)
"""

# A mount namespace with an empty /proc. It needs root.
_NO_PROC = f"""\
{_C}assert libc.unshare(0x20000) == 0
assert libc.mount(b"none", b"/", None, 0x44000, None) == 0
assert libc.mount(b"none", b"/proc", b"tmpfs", 0, None) == 0
"""


def descriptors(number: int) -> Condition:
    return Condition(f"resource.setrlimit(resource.RLIMIT_NOFILE, ({number}, {number}))")


CONDITIONS: Mapping[str, Condition] = {
    "unusual names": Condition(_UNUSUAL + _UNUSUAL_HOST, env={"USER": "J\u00f6rg M", "LOGNAME": "J\u00f6rg M"}),
    "no home": Condition("del os.environ['HOME'], os.environ['XDG_RUNTIME_DIR']", _NOBODY),
    "read-only home": Condition("os.environ['HOME'] = '/proc/self'; del os.environ['XDG_RUNTIME_DIR']"),
    "64 descriptors": descriptors(64),
    "12 descriptors": descriptors(12),
    "full disk": Condition("resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))"),
    "ASCII": Condition(env={"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"}),
    "a clock that jumps": Condition(inside=_CLOCK),
    "no /proc": Condition(_NO_PROC),
    "no folder": Condition("os.mkdir('gone'); os.chdir('gone'); os.rmdir('../gone')"),
    "stdin closed": Condition("os.close(0)"),
    "stdout closed": Condition("os.close(1)", hidden="out"),
    "stdout full": Condition("os.dup2(os.open('/dev/full', os.O_WRONLY), 1)", hidden="out"),
    "stderr closed": Condition("os.close(2)", hidden="err"),
    "stderr full": Condition("os.dup2(os.open('/dev/full', os.O_WRONLY), 2)", hidden="err"),
}


def start(
    condition: Condition, arguments: Sequence[str], folder: Path, env: Mapping[str, str]
) -> "subprocess.Popen[bytes]":
    """Start a command of raydap under a condition, in a folder of its own below `folder`. The caller ends it."""
    work = folder / "work"
    work.mkdir(parents=True)
    (folder / "sitecustomize.py").write_text(condition.inside)
    home = {"HOME": str(folder), "XDG_RUNTIME_DIR": str(folder), "PYTHONPATH": str(folder)}
    command = [sys.executable, "-m", "raydap"]
    before = f"import os, resource, sys\n{condition.before}\nos.execv({command[0]!r}, {command!r} + sys.argv[1:])"
    return subprocess.Popen(
        [sys.executable, "-S", "-c", before, *arguments],
        env=environment({**home, **env, **condition.env}),
        cwd=work,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
