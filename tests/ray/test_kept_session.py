"""`raydap session` on a real cluster: commands join it, and no process is left when it ends."""

import json
import os
import re
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest
from local_cluster import Child, Cluster

from raydap.exit_codes import ExitCode
from support import processes
from support.raydap_command import RAYDAP, environment, raydap, run

PROGRAM = """\
import os
import sys
import threading
import ray

END = sys.argv[1]

@ray.remote(num_cpus=0.1)
class Trainer:
    def train(self, rank):
        while not os.path.exists(END): threading.Event().wait(0.05)

ray.init()
trainers = [Trainer.remote() for _ in range(2)]
ray.get([trainer.train.remote(rank) for rank, trainer in enumerate(trainers)])
"""


@pytest.fixture
def ask(cluster: Cluster, tmp_path: Path) -> Iterator[Callable[..., str]]:
    """Yield `ask(*words)`, which runs a command of a user, and returns its output and errors.

    With `is_early`, there may be no worker yet.
    """
    env = environment({"XDG_RUNTIME_DIR": str(tmp_path)})

    def ask(*words: str, is_early: bool = False) -> str:
        code, output, errors = run([*words, "--dashboard", cluster.dashboard], env)
        assert code == 0 or (is_early and code == ExitCode.NO_WORKER), output + errors
        return output + errors

    yield ask
    ask("session", "end")


@pytest.fixture
def program(cluster: Cluster, tmp_path: Path, children: ExitStack) -> None:
    path = tmp_path / "train.py"
    path.write_text(PROGRAM)
    command = [*RAYDAP, "run", str(path), str(tmp_path / "end")]
    children.enter_context(Child(command, path.with_suffix(".log"), {"RAY_ADDRESS": cluster.address}, tmp_path))
    children.callback((tmp_path / "end").touch)


def pid_of(text: str) -> int:
    found = re.search(r"[Pp]rocess (\d+)", text)
    assert found is not None, text
    return int(found[1])


@pytest.mark.core
@pytest.mark.usefixtures("program")
def test_commands_join_it(ask: Callable[..., str], cluster: Cluster) -> None:
    pid = pid_of(ask("session", "start"))
    # Ray lists the workers some time after the start of the program.
    while "Trainer{0-1}" not in ask("ps", is_early=True):
        pass
    # A listed actor may not have begun its method.
    while not (answer := ask("eval", "rank < 2", "actor:Trainer")).startswith("True  2  Trainer{0-1}\n"):
        assert "none of your code now" in answer
    for words in (["ps"], ["stacks"], ["hang"], ["compare", "rank", "actor:Trainer"]):
        assert "Trainer" in ask(*words)
    again = ask("session", "start")
    assert again.startswith(f"There is the kept session of the process {pid}, which debugs {cluster.dashboard}.")
    sessions = json.loads(ask("status", "--json"))["sessions"]
    (listed,) = [one for one in sessions if one["pid"] == pid]
    assert (listed["command"], listed["parent"]) == ("session", "")
    assert cluster.dashboard in listed["debugs"]
    assert ask("session", "end").startswith(f"The kept session of the process {pid}, which debugged ")
    assert pid not in processes.marked()
    assert ask("session", "end") == "There is no kept session.\n"


@pytest.mark.core
def test_it_says_which_session_it_is(ask: Callable[..., str], cluster: Cluster, tmp_path: Path) -> None:
    pid = pid_of(ask("session", "start"))
    env: Mapping[str, str] = {"XDG_RUNTIME_DIR": str(tmp_path)}
    _, output, errors = run(["ps", "--all"], environment(env))
    assert f"This is the kept session of the process {pid}, which debugs {cluster.dashboard}." in errors, output


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_and_all_that_it_has_started(
    number: signal.Signals, ask: Callable[..., str], tmp_path: Path
) -> None:
    pid = pid_of(ask("session", "start"))
    folder = tmp_path / "raydap"
    assert [path.name for path in folder.glob("kept-*.sock")] == [f"kept-{pid}.sock"]
    assert (folder / f"kept-{pid}.sock").stat().st_mode & 0o777 == 0o600
    os.kill(pid, number)
    processes.until_ended(pid)
    assert not list(folder.glob("kept-*.sock"))
    assert ask("session", "end") == "There is no kept session.\n"


def test_one_that_is_not_used_ends(ask: Callable[..., str], tmp_path: Path) -> None:
    pid = pid_of(ask("session", "start", "--idle", "1s"))
    processes.until_ended(pid)
    assert "ends: no command has joined it for 1.0 s" in (tmp_path / "raydap" / "kept-session.log").read_text()


def test_a_cluster_that_does_not_answer(tmp_path: Path) -> None:
    text = raydap(
        "session", "start", "--dashboard", "http://127.0.0.1:9", env={"XDG_RUNTIME_DIR": str(tmp_path)}, code=1
    )
    assert "[raydap 2002]" in text
    assert text.count("\n") == 1
