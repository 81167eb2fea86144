"""Reports about one node of a cluster and its processes. `report` reads /proc, and connects to nothing.

survey_process.py brings this module to each node by value, because raydap need not be installed there. So it uses
nothing of raydap but the modules in `BY_VALUE`, and Ray only in the actor. raydap also calls it on its own machine.
"""

import hashlib
import json
import os
import platform
import re
import shlex
import shutil
import socket
import stat
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from raydap import tcp_sockets
from raydap.cluster.injection import gdb_injection
from raydap.cluster.injection.gdb_injection import CAP_SYS_PTRACE, PTRACE_SCOPE, has_capability, obstacle, user_name
from raydap.cluster.machine import outside_looks
from raydap.cluster.machine.outside_looks import read_bytes
from raydap.cluster.relay import relay_actor
from raydap.cluster.relay.relay_actor import leave_agent
from raydap.inworker import raylets
from raydap.inworker.raylets import PROC
from raydap.tcp_sockets import connected, listening
from raydap.tcp_sockets import read as read_sockets

BY_VALUE = (gdb_injection, relay_actor, *relay_actor.BY_VALUE, raylets, tcp_sockets)

PYTHON_TIMEOUT_S = 20.0
"""Seconds for a Python to report which packages it has. That takes 0.1 s on an idle machine."""

MAX_SOURCE = 16 * 1024 * 1024
"""Maximum size, in bytes, of a file that is compared with one of the caller's."""

_NAMES = re.compile("RAY|DEBUG|MORTEM|NCCL", re.IGNORECASE)
_SECRETS = re.compile("TOKEN|SECRET|PASSW|KEY|CREDENTIAL", re.IGNORECASE)
_VALUES = re.compile(
    "RAYDAP|RAY_JOB_ID|RAY_DEBUG.*|PYTHONBREAKPOINT|PYTHON_DISABLE_REMOTE_DEBUG|RAY_SERVE_.*|RAY_TRAIN_.*|TORCH_(NCCL|GLOO)_.*"
)
"""_NAMES matches variables whose names are reported, _SECRETS variables that are never reported, and _VALUES variables
whose values are reported, too."""

# As in inworker/driver_setup.py, which is not on the nodes.
_SETUP_HOOK_VARIABLE, _CLUSTER_HOOK = "__RAY_WORKER_PROCESS_SETUP_HOOK_ENV_VAR", "site.execsitecustomize"
_AT_START = "sitecustomize.py"

_LIBRARIES = {"libtorch_python": "torch", "libnccl": "nccl", "pydevd_cython": "debugpy"}

_REPORT_PYTHON = """
import importlib.metadata as metadata, importlib.util as util, json, platform, sys
def version(name):
    if util.find_spec(name) is None:
        return ""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "unknown"
sys.path.pop(0)
found = {"python": platform.python_version(), "ray": version("ray"), "debugpy": version("debugpy"), "path": sys.path}
print(json.dumps(found))
"""
"""Finds the packages without importing them, which takes seconds."""


class RaydapSurvey:
    """The actor on one node.

    No method raises, because with RAY_DEBUG_POST_MORTEM=1 the actor would become a paused worker.
    """

    def __init__(self) -> None:
        with suppress(Exception):
            leave_agent()
        self._listener: socket.socket | None = None

    def listen(self, host: str) -> int:
        """Listen on a port that the system chooses, as it does for debugpy, and return the port.

        A connection to this port has no effect. Return 0 if the node cannot listen.
        """
        with suppress(OSError):
            self._listener = socket.create_server((host, 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
            return int(self._listener.getsockname()[1])
        return 0

    def report(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """Return the result of `report`, or `{"error"}`."""
        try:
            return report(question)
        except Exception as error:
            return {"error": f"{type(error).__name__}: {error}"}


def report(question: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of node_reports.NodeReport.

    The question has `session`, the name of Ray's session; `host`, the node's address; `processes`, each with a `key` of
    the caller's, a `pid` and a debug `port` (0 without one); and `files`, each with its `path` on the caller's machine
    and the SHA-256 `digest` of its content.
    """
    host = question["host"]
    raylet_pid, options = _raylet(question["session"], host)
    python = next(iter(shlex.split(options.get("--python_worker_command", ""))), "")
    raylet_environ = _environ(PROC / str(raylet_pid))
    pythons = _Pythons(python, raylet_environ)
    files = _Files(question["files"])
    ports = _Ports(host)
    folder = os.path.join(options.get("--session_dir", ""), "sockets")
    processes = {
        one["key"]: {
            **_process(PROC / str(one["pid"]), pythons, files, folder),
            "gdb_obstacle": obstacle(one["pid"], host),
            "port": ports.report(one["port"]) if one["port"] and ports.known else None,
        }
        for one in question["processes"]
    }
    return {
        "user": user_name(os.geteuid()),
        "machine": platform.machine(),
        "gdb": _gdb_version(),
        "has_amx": b" amx_tile" in read_bytes(PROC / "cpuinfo"),
        "may_trace": has_capability(CAP_SYS_PTRACE),
        "ptrace_scope": read_bytes(Path(PTRACE_SCOPE)).decode(errors="replace").strip(),
        "gdb_obstacle": obstacle(raylet_pid or os.getpid(), host),
        "python": python,
        "external_debugger": options.get("--ray-debugger-external") == "1",
        "variables": _reported_variables(raylet_environ),
        "environments": pythons.known,
        "processes": processes,
        "forked_waits": outside_looks.forked_waits(one["pid"] for one in question["processes"]),
    }


class _Pythons:
    """The Pythons of processes, each run once. The Python of the raylet is that of all workers without their own."""

    def __init__(self, common: str, common_environ: Mapping[str, str]) -> None:
        self._common = common
        self._common_environ = common_environ
        self.known: dict[str, dict[str, Any]] = {}
        self.of({})

    def of(self, environ: Mapping[str, str]) -> str:
        """Return the Python of a process with this environment; "" if it is not known."""
        python = self._common
        for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
            # For a runtime_env, Ray activates an environment that it has made. The environment of the raylet is that of
            # its shell.
            own = environ.get(name, "")
            if own and own != self._common_environ.get(name):
                python = os.path.join(own, "bin", "python")
        if python and python not in self.known:
            self.known[python] = _ask_python(python, environ.get("PYTHONPATH", ""))
        return python


def _ask_python(python: str, search_path: str) -> dict[str, Any]:
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    # raydap's own folder would start an agent.
    folders = [each for each in search_path.split(os.pathsep) if each and os.path.basename(each) != "at_start"]
    if folders:
        environ["PYTHONPATH"] = os.pathsep.join(folders)
    try:
        done = subprocess.run(
            [python, "-c", _REPORT_PYTHON],
            env=environ,
            cwd="/",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PYTHON_TIMEOUT_S,
            check=True,
        )
        found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return found
    except (OSError, subprocess.SubprocessError, ValueError, IndexError) as error:
        return {"problem": f"{type(error).__name__}: {error}"[:300]}


def _process(folder: Path, pythons: _Pythons, files: "_Files", sockets: str) -> dict[str, Any]:
    """Return the report of a process, given by its folder in /proc.

    `visible` is false for a process of another container, or usually of another user.
    """
    try:
        cwd = os.readlink(folder / "cwd")
    except OSError:
        return {"visible": False}
    environ = _environ(folder)
    words = os.fsdecode(read_bytes(folder / "cmdline")).split("\0")
    script = next((os.path.join(cwd, word) for word in words if word.endswith(".py")), "")
    # The environment names a program, and folders from which it imports. Another user could choose both.
    python = pythons.of(environ) if raylets.user_ids(str(folder)) == {os.getuid()} else ""
    own = [cwd, *(each for each in environ.get("PYTHONPATH", "").split(os.pathsep) if each)]
    if script:
        own.append(os.path.dirname(script))
    return {
        "visible": True,
        "cwd": cwd,
        "script": script,
        "variables": _reported_variables(environ),
        "python": python,
        "agent": os.path.exists(os.path.join(sockets, f"raydap-{folder.name}")),
        "preparation": preparation(environ),
        "libraries": _libraries(folder),
        "files": files.places(own, pythons.known.get(python, {}).get("path", ())),
    }


def preparation(environ: Mapping[str, str]) -> str:
    """Return how the environment with which a process began prepares it for an agent.

    - "off": RAYDAP=off forbids an agent.
    - "launched": raydap started the program, which is to call it.
    - "run": `raydap run`, or the variables of `raydap prepare`.
    - "child": a process with an agent started it.
    - "cluster": the variables with which the cluster was started.
    - "hidden": these variables, but Python does not find the file that they name.
    - "hook": the setup hook of a program, which is raydap's if the process has an agent.
    - "": nothing.
    """
    if environ.get("RAYDAP") == "off":
        return "off"
    folders = {os.path.basename(each): each for each in environ.get("PYTHONPATH", "").split(os.pathsep)}
    if "at_start" in folders:
        with suppress(ValueError, AttributeError):
            settings = json.loads(environ.get("RAYDAP_AGENT", "{}"))
            if settings.get("identity", {}).get("worker_type") == "CHILD":
                return "child"
            return "launched" if settings.get("raydap") else "run"
    hook = environ.get(_SETUP_HOOK_VARIABLE)
    if hook == _CLUSTER_HOOK:
        return "cluster" if os.path.isfile(os.path.join(folders.get("for_cluster", ""), _AT_START)) else "hidden"
    return "hook" if hook else ""


class _Files:
    """Looks for files of the caller in the folders from which processes import."""

    def __init__(self, files: Iterable[Mapping[str, str]]) -> None:
        self._digests = {file["path"]: file["digest"] for file in files}
        self._found: dict[tuple[str, str, int], list[str]] = {}
        self._same: dict[tuple[str, str], bool] = {}

    def places(self, own: Iterable[str], libraries: Iterable[str]) -> dict[str, list[dict[str, Any]]]:
        """Return, for each file, the paths where it may lie for a process that imports from these folders.

        In folders of libraries, a file must also have its parent folder, because many files there have the same name.
        """
        found = {}
        for path in self._digests:
            places = [path] if os.path.isfile(path) else []
            for root in own:
                places += self._below(root, path, 1)
            for root in libraries:
                places += self._below(root, path, 2)
            found[path] = [{"path": each, "same": self._is_same(path, each)} for each in dict.fromkeys(places)]
        return found

    def _below(self, root: str, path: str, least: int) -> list[str]:
        """Return the file below this folder whose path has the longest end in common with `path`.

        At least this many parts must be equal. Return an empty list if there is no such file.
        """
        key = root, path, least
        if key not in self._found:
            parts = path.strip("/").split("/")
            ends = ("/".join(parts[start:]) for start in range(len(parts) - least + 1))
            places = (os.path.join(root, end) for end in ends)
            self._found[key] = [each for each in places if os.path.isfile(each)][:1]
        return self._found[key]

    def _is_same(self, path: str, place: str) -> bool:
        key = path, place
        if key not in self._same:
            self._same[key] = _digest(place) == self._digests[path]
        return self._same[key]


class _Ports:
    """A snapshot of this machine's sockets. `known` is false if the system does not list them."""

    def __init__(self, host: str) -> None:
        sockets = read_sockets()
        self.known = sockets is not None
        self._host = host
        self._sockets = sockets or []
        self._inodes = {(one.host, one.port): one.inode for one in self._sockets if not one.listens}
        self._owners: dict[str, list[Path]] | None = None

    def report(self, port: int) -> dict[str, Any]:
        """Return whether a process listens at a debug port, and the peers of its connections."""
        peers = [one.peer for one in connected(self._sockets, self._host, port)]
        return {
            "listens": listening(self._sockets, self._host, port) is not None,
            "peers": [{"host": peer[0], **self._owner(peer)} for peer in peers],
        }

    def _owner(self, peer: tuple[str, int]) -> dict[str, Any]:
        """Return the process at the other end; empty if it is on another machine, or belongs to another user."""
        if self._owners is None:
            # Read the processes once, and only if there is a connection.
            self._owners = {}
            for link, process in _open_sockets():
                self._owners.setdefault(link, []).append(process)
        folders = self._owners.get(f"socket:[{self._inodes.get(peer, 0)}]")
        if folders is None:
            return {}
        # A forked process has the sockets of its parent until it runs another program.
        pids = {folder.name for folder in folders}
        folder = next((folder for folder in folders if _parent(folder) not in pids), folders[0])
        words = os.fsdecode(read_bytes(folder / "cmdline")).split("\0")
        return {"pid": int(folder.name), "command": " ".join(words).strip()[:300]}


def _open_sockets() -> Iterator[tuple[str, Path]]:
    """Yield each open socket of each process: the link of its descriptor, and the folder of the process."""
    for folder in PROC.glob("[0-9]*"):
        with suppress(OSError):
            for entry in os.listdir(folder / "fd"):
                with suppress(OSError):
                    link = os.readlink(f"{folder}/fd/{entry}")
                    if link.startswith("socket:"):
                        yield link, folder


def _parent(folder: Path) -> str:
    """Return the id of the process that has started this one; "" if it has ended."""
    words = read_bytes(folder / "stat").rpartition(b")")[2].split()
    return words[1].decode() if words else ""


def _raylet(session: str, host: str) -> tuple[int, dict[str, str]]:
    """Return the process id of this node's raylet, and its options; 0 and nothing if it is not visible from here."""
    for pid, options in raylets.raylets():
        if (options.get("--session-name"), options.get("--node_ip_address")) == (session, host):
            return pid, options
    return 0, {}


def _environ(folder: Path) -> dict[str, str]:
    """Return the environment with which a process began. Later changes are not visible."""
    entries = os.fsdecode(read_bytes(folder / "environ")).split("\0")
    return dict(entry.partition("=")[::2] for entry in entries if "=" in entry)


def _reported_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that matter, without secrets.

    Only variables of debuggers and timeouts have their values; those of others are "".
    """
    names = [name for name in environ if (_NAMES.search(name) or _VALUES.fullmatch(name)) and not _SECRETS.search(name)]
    return {name: environ[name][:200] if _VALUES.fullmatch(name) else "" for name in names}


def _libraries(folder: Path) -> list[str]:
    text = os.fsdecode(read_bytes(folder / "maps"))
    return [known for library, known in _LIBRARIES.items() if f"/{library}" in text]


def _gdb_version() -> str:
    """Return the version of gdb, such as "13.1"; "" without gdb."""
    program = shutil.which("gdb")
    if program is None:
        return ""
    with suppress(OSError, subprocess.SubprocessError):
        output = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=10, check=False).stdout
        found = re.search(r"(\d+\.\d+)", output.partition("\n")[0])
        return found[1] if found else "unknown"
    return "unknown"


def _digest(path: str) -> str:
    """Return the SHA-256 of a file; "" for a file that is not regular, or too long for a source.

    The process that imports from the folder may belong to another user, who can replace the file at any time.
    """
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        with open(descriptor, "rb") as file:
            if stat.S_ISREG(os.fstat(descriptor).st_mode):
                content = file.read(MAX_SOURCE + 1)
                return hashlib.sha256(content).hexdigest() if len(content) <= MAX_SOURCE else ""
    return ""
