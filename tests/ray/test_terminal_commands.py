"""`raydap` alone, and `ps`, `stacks`, `eval` and `compare`, on a real cluster: alone, on a hub, beside an editor."""

import json
import re
import socket
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from dap_client import Client
from local_cluster import Child, Cluster, clean_environment

from support.bridge import Hub
from support.look import line_of
from support.paused_workers import paused_workers
from support.raydap_command import RAYDAP, raydap
from support.terminal import Terminal
from support.tries import tries

PROGRAM = """\
import os
import sys
import threading
import ray

END, RANKS = sys.argv[1], [int(rank) for rank in sys.argv[2:]]

@ray.remote(num_cpus=0.1)
class Trainer:
    def train(self, rank):
        loss = 0.25 * rank
        if rank == 2:
            breakpoint()
        while not os.path.exists(END): threading.Event().wait(0.05)  # trains
        return loss

ray.init()
trainers = [Trainer.remote() for _ in RANKS]
refs = [trainer.train.remote(rank) for rank, trainer in zip(RANKS, trainers)]
print(f"result: {sorted(ray.get(refs))}")
"""

BREAKPOINT = line_of(PROGRAM, "breakpoint()")
TRAINS = line_of(PROGRAM, "# trains")


@pytest.fixture
def environment(tmp_path: Path) -> Mapping[str, str]:
    """Return an environment in which commands join no existing session or hub."""
    return {"XDG_RUNTIME_DIR": str(tmp_path)}


@pytest.fixture
def program(tmp_path: Path, children: ExitStack) -> Path:
    path = tmp_path / "train.py"
    path.write_text(PROGRAM)
    children.callback((tmp_path / "end").touch)
    return path


@pytest.fixture
def ordinary(run_driver: Callable[..., Child], cluster: Cluster, program: Path) -> Callable[..., Child]:
    """Return `ordinary(*ranks)`, which starts the program without raydap. Rank 2 waits at breakpoint()."""

    def start(*ranks: int) -> Child:
        driver = run_driver(program, str(program.parent / "end"), *map(str, ranks))
        # Otherwise the tests would have to repeat their commands until this worker is paused.
        paused_workers(cluster, 1)
        return driver

    return start


@pytest.fixture
def prepared(cluster: Cluster, program: Path, children: ExitStack) -> Child:
    """Return the program, started by `raydap run` with agents in its workers."""
    command = [*RAYDAP, "run", str(program), str(program.parent / "end"), "0", "1", "2"]
    env = {"RAY_ADDRESS": cluster.address}
    driver = children.enter_context(Child(command, program.with_suffix(".log"), env, program.parent))
    paused_workers(cluster, 1)
    return driver


@pytest.fixture
def ask(cluster: Cluster, environment: Mapping[str, str]) -> Callable[..., str]:
    """Return `ask(command, *arguments)`, which runs a command for the cluster."""
    return lambda command, *arguments, **options: raydap(
        command, "--dashboard", cluster.dashboard, *arguments, env={**environment, **options.pop("env", {})}, **options
    )


def rows(ask: Callable[..., str], *arguments: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(ask("ps", "--json", *arguments))
    return found


def trainers(ask: Callable[..., str], where: Callable[[list[dict[str, Any]]], bool]) -> list[dict[str, Any]]:
    """Return the three trainers, once all of them are listed and `where` holds."""
    for _ in tries():
        found = [row for row in rows(ask) if row["actor"] == "Trainer"]
        if len(found) == 3 and where(found):
            return found
    raise AssertionError(found)


def at(found: list[dict[str, Any]], state: str, line: int) -> list[dict[str, Any]]:
    return [row for row in found if (row["state"], row["line"]) == (state, line)]


def test_raydap_alone_where_a_dashboard_does_not_answer(environment: Mapping[str, str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        text = raydap(env={**environment, "RAY_ADDRESS": url})
    assert f"\n  {url}\n    " in text
    assert "raydap doctor" in text


@pytest.mark.parametrize(
    "words", [["ps"], ["hang"], ["stacks"], ["eval", "1"], ["compare", "1"]], ids=lambda words: words[0]
)
def test_a_long_wait_is_shown_on_a_terminal(words: list[str], environment: Mapping[str, str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        command = [*RAYDAP, *words, "--dashboard", f"http://127.0.0.1:{silent.getsockname()[1]}"]
        with Terminal(command, environment) as terminal:
            terminal.wait_for(r"looking for the cluster \.\.\.")
            silent.close()
            assert terminal.wait() == 1
            terminal.wait_for(r"^\[raydap 2002\]|\[raydap \d+\]")
            assert "looking for the cluster" not in terminal.text


def test_an_ordinary_job_is_shown_and_left_as_it_is(
    children: ExitStack,
    ordinary: Callable[..., Child],
    ask: Callable[..., str],
    program: Path,
    cluster: Cluster,
    environment: Mapping[str, str],
) -> None:
    """The commands are `raydap` alone, `ps`, `stacks`, `eval` and `compare`."""
    driver = ordinary(0, 1, 2)
    found = trainers(
        ask,
        # Ray's list of tasks lags.
        lambda rows: (
            [row["task"] for row in at(rows, "paused", BREAKPOINT)] == ["Trainer.train"]
            and len(at(rows, "alive", TRAINS)) == 2
        ),
    )
    check_raydap_alone(raydap(env={**environment, "RAY_API_SERVER_ADDRESS": cluster.dashboard}), cluster)
    check_ps(ask, found, program)
    check_stacks(ask, program.with_suffix(".svg"))
    check_values(ask)
    chosen = raydap("ps", "actor:Nobody", env={**environment, "RAY_ADDRESS": cluster.address}, code=3)
    assert f"Cluster: {cluster.dashboard} (RAY_ADDRESS)\n" in chosen
    # The commands have not stopped or resumed any worker: the paused one still waits, and stops for an editor.
    assert len(at(trainers(ask, lambda rows: True), "paused", BREAKPOINT)) == 1
    assert driver.process.poll() is None
    check_the_stop(children, environment, cluster)
    program.with_name("end").touch()
    driver.wait_for(r"result: \[0.0, 0.25, 0.5\]")


def test_a_worker_that_waits_is_asked_beside_busy_processes(
    children: ExitStack,
    ordinary: Callable[..., Child],
    ask: Callable[..., str],
    program: Path,
    cluster: Cluster,
    environment: Mapping[str, str],
) -> None:
    """On busy processors debugpy's adapter once answered no debugger after such a question."""
    driver = ordinary(2)
    with ExitStack() as busy:
        for number in range(4):
            path = program.with_name(f"busy{number}.log")
            busy.enter_context(Child([sys.executable, "-c", "while True: pass"], path))
        for number in range(3):
            assert re.match(rf"{number + 0.5}  1  Trainer\n", ask("eval", f"loss + {number}", "actor:Trainer"))
        check_the_stop(children, environment, cluster)
    program.with_name("end").touch()
    driver.wait_for(r"result: \[0.5\]")


def check_the_stop(children: ExitStack, environment: Mapping[str, str], cluster: Cluster) -> None:
    """Check that an editor finds one worker at its breakpoint(), and let it continue."""
    client = children.enter_context(Client.spawn([*RAYDAP, "adapter"], env=clean_environment(environment)))
    client.start_session("attach", {"dashboard": cluster.dashboard})
    stop = client.wait_event("stopped")
    assert client.request("stackTrace", threadId=stop["threadId"])["stackFrames"][0]["line"] == BREAKPOINT
    client.request("continue", threadId=stop["threadId"])


def check_raydap_alone(text: str, cluster: Cluster) -> None:
    """Check that `raydap` without arguments prints which worker waits where, and what to do."""
    lines = text[text.index(f"  {cluster.dashboard}  ") :].splitlines()
    assert "runs train.py, 1 paused worker" in lines[0]
    assert lines[1].split() == ["STATE", "WORKER", "JOB", "NODE", "PID", "FOR", "WHERE"]
    assert lines[2].split()[0] == "paused"
    assert lines[2].rstrip().endswith(f"at breakpoint() in train (train.py:{BREAKPOINT})")
    assert f"RAY_API_SERVER_ADDRESS is {cluster.dashboard}" in text
    assert "\n  raydap debug " in text
    assert text.endswith("raydap --help lists all commands.\n")


def check_ps(ask: Callable[..., str], found: list[dict[str, Any]], program: Path) -> None:
    """Check `raydap ps`. `found` has the three trainers."""
    (paused,) = at(found, "paused", BREAKPOINT)
    assert (paused["file"], paused["task"], paused["threads"]) == (str(program), "Trainer.train", [])
    assert sorted(row["rank"] for row in found) == [0, 1, 2]
    (again,) = rows(ask, "state:paused")
    # At the first call, debugpy may not have listened yet.
    assert {**again, "age": 0, "place": ""} == {**paused, "age": 0, "place": ""}
    table = [line.rstrip() for line in ask("ps", "actor:Trainer").splitlines()]
    assert table[1].startswith("paused")
    assert table[1].endswith(f"at breakpoint() in train (train.py:{BREAKPOINT})")
    assert table[0].split() == ["STATE", "COUNT", "WORKER", "JOB", "NODE", "PID", "FOR", "WHERE"]
    # The two others are at the same place.
    assert [line.split()[:2] for line in table[1:]] == [["paused", "1"], ["alive", "2"]]
    assert f"below train (train.py:{TRAINS})" in table[2]
    each = ask("ps", "actor:Trainer", "--each").splitlines()
    assert each[0].split() == ["STATE", "WORKER", "JOB", "NODE", "PID", "FOR", "WHERE"]
    assert [line.split()[0] for line in each[1:]] == ["paused", "alive", "alive"]


def check_stacks(ask: Callable[..., str], picture: Path) -> None:
    """Check `raydap stacks` in each format."""
    tree = ask("stacks", "actor:Trainer")
    assert f"2 train (train.py:{TRAINS})" in tree
    folded = ask("stacks", "actor:Trainer", "--folded").splitlines()
    assert sum(int(line.rpartition(" ")[2]) for line in folded) == 3
    root = json.loads(ask("stacks", "actor:Trainer", "--json"))["root"]
    assert root["count"] == 3
    assert ask("stacks", "--svg", str(picture)) == ""
    assert picture.read_text().startswith("<svg")


def check_values(ask: Callable[..., str]) -> None:
    """Check that the worker at breakpoint() answers, and that workers without an agent are not asked."""
    assert ask("eval", "loss", "actor:Trainer").startswith("0.5  1  Trainer 2\n")
    assert ask("compare", "[rank] * 2", "actor:Trainer").startswith("[2, 2]  1  Trainer 2\n")
    assert "paused" in ask("ps", "actor:Trainer where loss == 0.5")
    text = ask("eval", "rank", "actor:Trainer not state:paused", code=3)
    assert "No worker in this set can evaluate an expression" in text


def test_a_prepared_job(prepared: Child, ask: Callable[..., str], program: Path) -> None:
    trainers(ask, lambda rows: len(at(rows, "paused", BREAKPOINT)) == 1 and len(at(rows, "alive", TRAINS)) == 2)
    answer = json.loads(ask("eval", "loss", "actor:Trainer", "--json"))
    values = [group["value"] for group in answer["groups"] if not group.get("error")]
    assert sorted(values) == ["0.0", "0.25", "0.5"]
    assert answer["statistics"]["max"] == 0.5
    text = ask("eval", "type(self).__name__", "actor:Trainer not state:paused")
    assert text.startswith("'Trainer'  2  Trainer{")
    text = ask("compare", "[rank] * 3", "actor:Trainer not state:paused")
    assert "[0, 0, 0]" in text
    assert "[1, 1, 1]" in text
    errors = ask("eval", "nothing", "actor:Trainer not state:paused", code=1)
    assert errors.splitlines()[1:] == ["Next: raydap compare EXPRESSION"]
    program.with_name("end").touch()
    assert f"train.py:{BREAKPOINT}" in ask("ps", "state:paused")


def test_beside_an_editor(
    children: ExitStack, cluster: Cluster, environment: Mapping[str, str], ordinary: Callable[..., Child], program: Path
) -> None:
    """The commands see the stops of the editor's session and do not change them."""
    driver = ordinary(1, 2)
    command = [*RAYDAP, "adapter"]
    client = children.enter_context(Client.spawn(command, env=clean_environment(environment)))
    client.start_session("attach", {"dashboard": cluster.dashboard})
    stop = client.wait_event("stopped")
    ask = partial(raydap, env=environment)
    (row,) = json.loads(ask("ps", "--json", "state:stopped"))
    assert [thread["threadId"] for thread in row["threads"]] == [stop["threadId"]]
    assert (row["file"], row["line"]) == (str(program), BREAKPOINT)
    assert ask("eval", "loss", "state:stopped").startswith("0.5  1  Trainer")
    assert f"train (train.py:{BREAKPOINT})" in ask("stacks", "--locals")
    assert "No worker in this set" in ask("eval", "loss", "pid:1", code=3)
    client.request("threads")
    assert not [event for event in client.events if event["event"] in ("continued", "terminated")]
    client.request("continue", threadId=stop["threadId"])
    program.with_name("end").touch()
    driver.wait_for(r"result: \[0.25, 0.5\]")


def test_on_a_hub(
    children: ExitStack,
    cluster: Cluster,
    environment: Mapping[str, str],
    ordinary: Callable[..., Child],
    tmp_path: Path,
    connect_to: Callable[[str, int], Client],
) -> None:
    ordinary(1, 2)
    hub = Hub.start(tmp_path / "hub.log", "--dashboard", cluster.dashboard)
    children.callback(hub.child.end)
    token = tmp_path / "token"
    token.touch(0o600)
    token.write_text(hub.token)
    named = ["--connect", hub.url, "--token-file", str(token)]
    # Listing the workers of a hub attaches to none of them.
    shown = ""
    while "paused" not in shown:
        shown = raydap("ps", *named, "actor:Trainer", env=environment)
    client = connect_to(hub.host, hub.port)
    client.start_session("attach", {"token": hub.token})
    client.wait_event("stopped")
    assert raydap("eval", "loss", "state:stopped", *named, env=environment).startswith("0.5  1  Trainer")
    over_tcp = ["--connect", f"tcp://{hub.host}:{hub.port}", "--token-file", str(token)]
    assert f"train.py:{BREAKPOINT}" in raydap("ps", *over_tcp, "state:stopped", env=environment)
    watch = children.enter_context(Terminal([*RAYDAP, "ps", "--watch", *named, "state:stopped"], environment))
    watch.wait_for("^stopped +Trainer")
    token.write_text("wrong")
    assert "[raydap 1011]" in raydap("ps", *over_tcp, env=environment, code=1)
    assert raydap("ps", *named, env=environment, code=1).count("\n") == 1
    hub.child.process.kill()
    watch.wait_for(r"^The session has ended; start the command again\.$")
    assert watch.wait() == 1


def test_wrong_words(ask: Callable[..., str], environment: Mapping[str, str]) -> None:
    assert "actr" in ask("ps", "actr:Trainer", code=1)
    assert "SET" in ask("stacks", "a", "b", code=2)
    assert "Give only one of" in ask("stacks", "--json", "--folded", code=2)
    for command in (["ps"], ["stacks"], ["eval", "1"], ["compare", "1"], ["debug"]):
        text = raydap(*command, "--dashboard", "http://127.0.0.1:9", env=environment, code=1)
        assert "127.0.0.1:9" in text
        assert "[raydap 2002]" in text
        assert text.count("\n") == 1
        text = raydap(*command, "--connect", "ws://nobody@:x", env=environment, code=1)
        assert "ws://nobody@:x" in text
        assert text.count("\n") == 1


def test_watch_colours_and_width(
    ordinary: Callable[..., Child],
    cluster: Cluster,
    environment: Mapping[str, str],
    children: ExitStack,
    program: Path,
) -> None:
    ordinary(1, 2)
    ps = [*RAYDAP, "ps", "--dashboard", cluster.dashboard]
    watch = children.enter_context(Terminal([*ps, "--watch", "actor:Trainer"], environment, columns=90))
    watch.wait_for(r"^paused +Trainer \d.*\nalive +Trainer")
    assert b"\x1b[" in watch.raw
    assert all(len(line) <= 90 for line in watch.text.splitlines())
    program.with_name("end").touch()
    # The list is updated when the actor has done its work.
    watch.wait_for(r"^STATE .*\n^paused +Trainer .*\nalive +Trainer \d (?!.*below train).*\n?\Z")
    watch.send("\x03")
    assert watch.wait() == 130, watch.text
    plain = children.enter_context(Terminal([*ps, "actor:Trainer"], {**environment, "NO_COLOR": "1"}, columns=90))
    assert plain.wait() == 0
    plain.wait_for("paused")
    assert b"\x1b[3" not in plain.raw
    narrow = raydap("ps", "--dashboard", cluster.dashboard, env={**environment, "COLUMNS": "60"})
    assert max(len(line.rstrip()) for line in narrow.splitlines()) <= 60, narrow
    assert narrow.splitlines()[0].split() == ["STATE", "WORKER", "PID", "WHERE"]
