"""A new Ray cluster on this machine, and child processes that end with the block that uses them."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

RAY = """\
import os, sys
sys.modules["ray.serve"] = None
from ray._private import ray_constants
ray_constants.SETUP_WORKER_FILENAME = os.environ.get("RAYDAP_SETUP_WORKER") or ray_constants.SETUP_WORKER_FILENAME
from ray.scripts import scripts
scripts.get_ray_client_dependency_error = lambda: "it is left out"
scripts.main()
"""
"""The command `ray` without Ray Serve and Ray Client.

Both take a second of a processor at each start. Also, a new cluster ends if another cluster of this machine has the
port of Ray Client. RAYDAP_SETUP_WORKER is the absolute path of a file that replaces Ray's `setup_worker.py`.
"""


class ChildFailed(Exception):
    """A child process has ended too early, or a wait for it has timed out. The text ends with its output."""


class Child:
    """A child process in a new session, so that Ctrl-C in the terminal reaches only this process.

    Its stdout and stderr go to the file `log`. So there is no pipe to read, and the child can outlive this process.
    """

    def __init__(
        self, command: Sequence[str], log: Path, env: Mapping[str, str] | None = None, cwd: Path | None = None
    ) -> None:
        self.log = log
        with log.open("wb") as output:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=clean_environment(env or {}),
                cwd=cwd,
                start_new_session=True,
            )

    def __enter__(self) -> "Child":
        return self

    def __exit__(self, *exc: object) -> None:
        self.end()

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self.process.pid

    @property
    def output(self) -> str:
        """The output of the process so far."""
        return self.log.read_text(errors="replace")

    def wait_for(self, pattern: str, seconds: float = 60) -> re.Match[str]:
        """Wait until the output matches. Raises ChildFailed if the process ends first, or after `seconds`."""
        deadline = time.monotonic() + seconds
        while True:
            ended = self.process.poll() is not None  # Checked first, so that the last output counts, too.
            if match := re.search(pattern, self.output):
                return match
            if ended or time.monotonic() > deadline:
                fate = f"ended with code {self.process.returncode}" if ended else f"was silent for {seconds:.0f} s"
                raise ChildFailed(f"{self.process.args!r} {fate}, awaited {pattern!r}:\n{self.output[-4000:]}")
            time.sleep(0.02)

    def wait(self, seconds: float = 60) -> int:
        """Wait until the process ends, and return its exit code. Raises ChildFailed after `seconds`."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise ChildFailed(
                f"{self.process.args!r} still runs after {seconds:.0f} s:\n{self.output[-4000:]}"
            ) from None

    def end(self, seconds: float = 15) -> None:
        """Terminate the process, wait for its end up to `seconds`, and kill what is left of its process group."""
        if self.process.poll() is None:
            self.process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(seconds)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self.process.wait()

    def kill(self) -> None:
        """Kill the process and all its descendants, even those in other sessions, such as Ray's workers."""
        found = descendants(self.pid)
        for pid in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        # Without /proc the descendants are not known, and the process must end them itself.
        self.end(seconds=0 if found else 15)


class Cluster:
    """One Ray head node on loopback.

    `env` is added to the environment of its processes, and `options` to the options of `ray start`. Several clusters
    of one process must have different `network`s.
    """

    def __init__(
        self,
        python: str = sys.executable,
        num_cpus: int = 4,
        network: str = "127.77",
        env: Mapping[str, str] | None = None,
        options: Sequence[str] = (),
    ) -> None:
        # Short and under /tmp, because Ray creates Unix sockets below it, whose paths have at most 107 bytes.
        self.directory = Path(tempfile.mkdtemp(prefix="raydap-", dir="/tmp"))
        self.host = f"{network}.{os.getpid() // 250 % 250}.{os.getpid() % 250 + 2}"
        """The node's address. It depends on the pid: clusters at one address would use the same fixed ports of Ray."""
        command = [python, "-c", RAY, "start", "--head", "--block", "--disable-usage-stats"]
        command += [f"--node-ip-address={self.host}", "--dashboard-host=127.0.0.1", "--port=0", "--dashboard-port=0"]
        # Jobs are submitted through the agent, whose default port another cluster of this machine may have.
        command += ["--dashboard-agent-listen-port=0"]
        command += [f"--num-cpus={num_cpus}", f"--temp-dir={self.directory}", *options]
        # With --block, this process stays the parent of all others, and ends them when it is terminated.
        self.child = Child(command, self.directory / "ray-start.log", env)
        try:
            self.address = self.child.wait_for(r"--address='([\d.:]+)'", seconds=180)[1]
            """The value for RAY_ADDRESS."""
            self.dashboard = self.child.wait_for(r"(?:RAY_API_SERVER_ADDRESS|RAY_ADDRESS)='(http://[\d.:]+)'")[1]
            """The URL of the dashboard."""
        except BaseException:
            self.end()
            raise

    def __enter__(self) -> "Cluster":
        return self

    def __exit__(self, *exc: object) -> None:
        self.end()

    def end(self) -> None:
        """Kill the cluster, and delete its files.

        An orderly end would take Ray three seconds of a processor, and nothing of the cluster is kept.
        """
        self.child.kill()
        shutil.rmtree(self.directory, ignore_errors=True)


def descendants(pid: int) -> set[int]:
    """Return the pids of the children of a process, of their children, and so on; an empty set without /proc."""
    found: set[int] = set()
    for task in Path(f"/proc/{pid}/task").glob("*"):
        with contextlib.suppress(OSError):  # The process has just ended.
            for child in map(int, (task / "children").read_text().split()):
                found |= {child, *descendants(child)}
    return found


def clean_environment(extra: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of this process and `extra`, without variables that change Ray's cluster or debugger.

    A variable of the debugger that is set but empty would disable it.

    Tokens are disabled by default. `ray.init()` without a cluster leaves a token in the user's home folder. Clusters
    that start later would require it, but a job that joins such a cluster would not send it by default.
    """
    unwanted = ("RAY_ADDRESS", "RAY_API_SERVER_ADDRESS", "RAY_DEBUG", "RAY_DEBUG_POST_MORTEM", "PYTHONBREAKPOINT")
    kept = {name: value for name, value in os.environ.items() if name not in unwanted}
    return {"RAY_AUTH_MODE": "disabled", **kept, "PYTHONUNBUFFERED": "1", **extra}
