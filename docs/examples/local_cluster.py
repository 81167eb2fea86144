"""A Ray cluster of one's own on this machine, and child processes that never outlive their use."""

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
import sys
sys.modules["ray.serve"] = None
from ray.scripts import scripts
scripts.get_ray_client_dependency_error = lambda: "it is left out"
scripts.main()
"""
"""The command `ray` without Ray Serve and Ray Client. Both cost a second of a processor at each start; and if another
cluster of this machine has the port of Ray Client, a new cluster ends."""


class ChildFailed(Exception):
    """A child process ended, or stayed silent, before it said what was awaited. The text ends with its output."""


class Child:
    """A child process in a session of its own, so that Ctrl-C in the terminal reaches only us.

    Its stdout and stderr go to the file `log`: nobody has to read a pipe, and the child can be left running.
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
        return self.process.pid

    @property
    def output(self) -> str:
        return self.log.read_text(errors="replace")

    def wait_for(self, pattern: str, seconds: float = 60) -> re.Match[str]:
        """Waits until the output matches; raises ChildFailed when it cannot any more or `seconds` have passed."""
        deadline = time.monotonic() + seconds
        while True:
            ended = self.process.poll() is not None  # Asked first: what it wrote before it ended still counts.
            if match := re.search(pattern, self.output):
                return match
            if ended or time.monotonic() > deadline:
                fate = f"ended with code {self.process.returncode}" if ended else f"was silent for {seconds:.0f} s"
                raise ChildFailed(f"{self.process.args!r} {fate}, awaited {pattern!r}:\n{self.output[-4000:]}")
            time.sleep(0.02)

    def wait(self, seconds: float = 60) -> int:
        """Waits for the end of the process and returns its exit code; raises ChildFailed after `seconds`."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise ChildFailed(
                f"{self.process.args!r} still runs after {seconds:.0f} s:\n{self.output[-4000:]}"
            ) from None

    def end(self, seconds: float = 15) -> None:
        """Ends the process, politely first, and then whatever is left of its process group."""
        if self.process.poll() is None:
            self.process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(seconds)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self.process.wait()

    def kill(self) -> None:
        """Kills the process and all that descends from it, also what has a session of its own, as Ray's workers."""
        found = descendants(self.pid)
        for pid in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        # Where there is no /proc, the process has to end the others itself.
        self.end(seconds=0 if found else 15)


class Cluster:
    """One Ray head node on loopback.

    `address` is what RAY_ADDRESS takes, `dashboard` an URL, `host` the node's address. The latter is derived from our
    pid, because clusters that share an address would quarrel over the ports Ray fixes; for more than one at a time,
    `network` has to differ. `env` is added to the environment of its processes, `options` to those of `ray start`.
    """

    def __init__(
        self,
        python: str = sys.executable,
        num_cpus: int = 4,
        network: str = "127.77",
        env: Mapping[str, str] | None = None,
        options: Sequence[str] = (),
    ) -> None:
        # Short and under /tmp: Ray puts Unix sockets below it, whose paths are limited to 107 bytes.
        self.directory = Path(tempfile.mkdtemp(prefix="raydap-", dir="/tmp"))
        self.host = f"{network}.{os.getpid() // 250 % 250}.{os.getpid() % 250 + 2}"
        command = [python, "-c", RAY, "start", "--head", "--block", "--disable-usage-stats"]
        command += [f"--node-ip-address={self.host}", "--dashboard-host=127.0.0.1", "--port=0", "--dashboard-port=0"]
        # Jobs are submitted through the agent, whose fixed port any other cluster of this machine may hold.
        command += ["--dashboard-agent-listen-port=0"]
        command += [f"--num-cpus={num_cpus}", f"--temp-dir={self.directory}", *options]
        # With --block this process stays the parent of all the others and ends them when it is ended.
        self.child = Child(command, self.directory / "ray-start.log", env)
        try:
            self.address = self.child.wait_for(r"--address='([\d.:]+)'", seconds=180)[1]
            self.dashboard = self.child.wait_for(r"(?:RAY_API_SERVER_ADDRESS|RAY_ADDRESS)='(http://[\d.:]+)'")[1]
        except BaseException:
            self.end()
            raise

    def __enter__(self) -> "Cluster":
        return self

    def __exit__(self, *exc: object) -> None:
        self.end()

    def end(self) -> None:
        """At once, because nothing of it is kept: asked to end, Ray needs three seconds of a processor for that."""
        self.child.kill()
        shutil.rmtree(self.directory, ignore_errors=True)


def descendants(pid: int) -> set[int]:
    """The pids of the children of a process, of their children, and so on. None where there is no /proc."""
    found: set[int] = set()
    for task in Path(f"/proc/{pid}/task").glob("*"):
        with contextlib.suppress(OSError):  # It has ended just now.
            for child in map(int, (task / "children").read_text().split()):
                found |= {child, *descendants(child)}
    return found


def clean_environment(extra: Mapping[str, str]) -> dict[str, str]:
    """Our environment and `extra`, without what would redirect Ray or, set but empty, disable its debugger.

    Ray leaves a token in the home folder of whoever once called `ray.init()` alone. A cluster started after that would
    want it, and a job that joins the cluster would not send it, unless told to.
    """
    unwanted = ("RAY_ADDRESS", "RAY_API_SERVER_ADDRESS", "RAY_DEBUG", "RAY_DEBUG_POST_MORTEM", "PYTHONBREAKPOINT")
    kept = {name: value for name, value in os.environ.items() if name not in unwanted}
    return {"RAY_AUTH_MODE": "disabled", **kept, "PYTHONUNBUFFERED": "1", **extra}
