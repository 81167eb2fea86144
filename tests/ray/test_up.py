"""`raydap up` and `raydap down`: a hub that runs as a job of a cluster, from start to end."""

import json
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from dap_client import Client, RequestFailed
from local_cluster import Child, Cluster

from support.look import go_on, local_variables, user_frames

ACTORS = Path(__file__).parents[2] / "docs" / "examples" / "actors.py"

Raydap = Callable[..., Child]


@pytest.fixture
def raydap(tmp_path: Path, children: ExitStack) -> Raydap:
    """Return `raydap(*arguments)`, which runs a command of raydap with its connection files below `tmp_path`."""

    def run(*arguments: str) -> Child:
        log = tmp_path / f"raydap{len(list(tmp_path.glob('raydap*.log')))}.log"
        command = [sys.executable, "-m", "raydap", *arguments]
        return children.enter_context(Child(command, log, {"XDG_RUNTIME_DIR": str(tmp_path)}))

    return run


@pytest.fixture
def up(raydap: Raydap, cluster: Cluster) -> Iterator[Raydap]:
    """Yield `up(*options)`, which runs `raydap up` on the cluster. The hub ends with the test."""

    def run(*options: str) -> Child:
        child = raydap("up", "--dashboard", cluster.dashboard, "--python", sys.executable, *options)
        assert child.wait() == 0, child.output
        return child

    yield run
    assert raydap("down", "--dashboard", cluster.dashboard).wait() == 0


def connection_files(tmp_path: Path) -> list[Path]:
    return list((tmp_path / "raydap").glob("*.json"))


def port_of(output: str) -> int:
    found = re.search(r"listens on 127\.0\.0\.1:(\d+)", output)
    assert found is not None, output
    return int(found[1])


def test_a_hub_comes_serves_and_goes(
    up: Raydap,
    raydap: Raydap,
    cluster: Cluster,
    tmp_path: Path,
    connect_to: Callable[[str, int], Client],
    run_driver: Callable[..., Child],
) -> None:
    started = up()
    (path,) = connection_files(tmp_path)
    known = json.loads(path.read_text())
    assert path.stat().st_mode & 0o777 == 0o600
    assert (known["host"], known["port"]) == ("127.0.0.1", port_of(started.output))
    assert known["dashboard"] == cluster.dashboard
    assert known["token"] in started.output

    driver = run_driver(ACTORS, "--actors", "2", "--iterations", "2")
    stranger = connect_to(known["host"], known["port"])
    stranger.request("initialize", adapterID="raydap")
    with pytest.raises(RequestFailed, match="1011"):
        stranger.request("attach", token="wrong")

    client = connect_to(known["host"], known["port"])
    client.start_session("attach", {"token": known["token"], "actor": "Counter"})
    stops = [client.wait_event("stopped") for _ in range(2)]
    for stop in stops:
        assert "iteration" in local_variables(client, stop)
        # raydap treats files on the cluster as different from the editor's, although here they are the same.
        (frame,) = user_frames(client, stop)
        assert frame["source"]["path"] == str(ACTORS)
        text = client.request("source", sourceReference=frame["source"]["sourceReference"])["content"]
        assert text == ACTORS.read_text()
        go_on(client, stop)
    assert len({stop["threadId"] for stop in stops}) == 2
    # One iteration is left, so both workers are stopped when the hub ends.
    for _ in range(2):
        client.wait_event("stopped")

    ended = raydap("down", "--dashboard", cluster.dashboard)
    assert ended.wait() == 0, ended.output
    assert connection_files(tmp_path) == []
    with pytest.raises(ConnectionRefusedError):
        Client.connect(known["host"], known["port"])
    assert driver.wait() == 0, driver.output
    assert "result: [1, 21]" in driver.output


def test_a_second_up_shows_the_hub_that_runs_and_replace_starts_anew(
    up: Raydap, raydap: Raydap, cluster: Cluster, tmp_path: Path
) -> None:
    first = up()
    (path,) = connection_files(tmp_path)
    again = up()
    assert "--replace" in again.output
    assert port_of(again.output) == port_of(first.output)
    assert str(path) in again.output
    token = json.loads(path.read_text())["token"]
    assert token not in again.output

    up("--replace", "--hold", "60")
    (other,) = connection_files(tmp_path)
    assert other != path
    assert json.loads(other.read_text())["token"] != token


def test_two_ups_at_the_same_moment_start_one_hub(up: Raydap, raydap: Raydap, cluster: Cluster, tmp_path: Path) -> None:
    """Both find no hub and choose the same name, which Ray accepts from only one. After `down`, `up` works again."""
    for _ in range(2):
        command = ("up", "--dashboard", cluster.dashboard, "--python", sys.executable)
        both = [raydap(*command), raydap(*command)]
        for child in both:
            assert child.wait() == 0, child.output
        first, second = sorted(both, key=lambda child: "A hub already runs" in child.output)
        assert "The token is" in first.output
        assert "A hub already runs" in second.output
        assert port_of(second.output) == port_of(first.output)
        (path,) = connection_files(tmp_path)
        assert json.loads(path.read_text())["token"] in first.output
        ended = raydap("down", "--dashboard", cluster.dashboard)
        assert ended.wait() == 0
        assert ended.output.count("detached from its workers and ended") == 1


def test_a_hub_that_cannot_start_prints_why(raydap: Raydap, cluster: Cluster, tmp_path: Path) -> None:
    child = raydap("up", "--dashboard", cluster.dashboard, "--python", "no-such-python")
    assert child.wait() == 1
    assert "[raydap 5004]" in child.output
    assert "--python" in child.output
    assert "Traceback" not in child.output
    assert connection_files(tmp_path) == []


def test_down_where_nothing_is_up(raydap: Raydap, cluster: Cluster) -> None:
    child = raydap("down", "--dashboard", cluster.dashboard)
    assert child.wait() == 0
    assert "No hub" in child.output
