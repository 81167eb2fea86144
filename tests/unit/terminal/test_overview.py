"""The output of `raydap` without a command, and its advice."""

import asyncio
import io
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from click.testing import CliRunner
from rich.console import Console

from raydap.cli.main import main
from raydap.client.dap_connection import SessionError
from raydap.cluster.dashboard.local_clusters import minute
from raydap.cluster.ray_process import ray_query
from raydap.hub import machine_status
from raydap.hub.machine_status import ClusterStatus, HubStatus, MachineStatus, PausedStatus, SessionStatus
from raydap.terminal import overview
from raydap.terminal.overview import Overview, advice, merged, write
from raydap.terminal.process_list import ProcessRow

URL = "http://127.0.0.1:8265"
OTHER = "http://127.0.0.1:8266"
PAUSED = [
    PausedStatus("ab", "Trainer.update", 7, "10.0.0.7", 4711, False),
    PausedStatus("cd", "collect", 8, "10.0.0.7", 4712, True),
]


def cluster(url: str = URL, **more: Any) -> ClusterStatus:
    return ClusterStatus(url, "me", True, 0, **{"jobs": ["train.py"], "paused": [], **more})


def of(*clusters: ClusterStatus, waiting: Mapping[str, Sequence[ProcessRow]] | None = None) -> Overview:
    return Overview(MachineStatus([], [], list(clusters)), waiting or {})


def commands(view: Overview) -> list[str]:
    return [command for command, _ in advice(view)]


def written(view: Overview, width: int = 100, environ: Mapping[str, str] | None = None) -> list[str]:
    out = io.StringIO()
    console = Console(file=out, width=width, highlight=False, markup=False, emoji=False)
    write(view, console, environ or {})
    return [line.rstrip() for line in out.getvalue().splitlines()]


def test_with_nothing_it_says_how_to_begin() -> None:
    assert written(of()) == [
        "No Ray cluster, hub or editor session runs on this machine.",
        "",
        "What to do next",
        "  raydap run program.py    run a program that can be debugged at any time",
        "  raydap debug program.py  run it in the debugger, in this terminal",
        "  F5 in an editor          debug with breakpoints beside the lines, in VS Code, Neovim or Emacs",
        "",
        "raydap --help lists all commands.",
    ]


def test_clusters_with_their_waiting_workers_come_before_hubs_and_sessions() -> None:
    found = MachineStatus(
        hubs=[HubStatus("ws://127.0.0.1:1/dap", 5, 0, 2, [URL])],
        sessions=[SessionStatus(6, "adapter", "nvim", 0, [URL])],
        clusters=[cluster(paused=PAUSED), ClusterStatus("10.0.0.9:6379", "alice", False, 0)],
        problem="The processes are not known.",
    )
    lines = written(Overview(found, {URL: merged([], PAUSED)}), width=140)
    since = minute(0)
    assert lines[:8] == [
        "The processes are not known.",
        "Clusters",
        f"  {URL}  by me, since {since}, runs train.py, 2 paused workers",
        "    STATE   WORKER          JOB  NODE      PID  FOR  WHERE",
        "    paused  Trainer.update       10.0.0.7  7",
        "    paused  collect              10.0.0.7  8         stuck: nothing listens at its debug port 4712; "
        "restart its task, actor or job",
        f"  10.0.0.9:6379  by alice, since {since}, not inspected",
        "Hubs",
    ]
    assert f"  pid 6  raydap adapter, started by nvim, since {since}, debugs {URL}" in lines


def test_the_width_is_respected_and_no_command_is_cut() -> None:
    view = of(cluster(paused=PAUSED), cluster(OTHER), waiting={URL: merged([], PAUSED)})
    lines = written(view, width=50)
    assert f"  raydap debug --dashboard {URL}" in lines
    assert "    debug the worker at breakpoint() in this terminal" in lines
    (head,) = [line for line in lines if line.strip().startswith("STATE")]
    assert head.split() == ["STATE", "WORKER", "WHERE"]
    above = lines[: lines.index("What to do next")]
    assert max(map(len, above)) <= 50


def test_of_many_workers_only_some_are_listed() -> None:
    many = [PausedStatus(str(number), "collect", number, "n", number, True) for number in range(64)]
    lines = written(of(cluster(paused=many), waiting={URL: merged([], many)}))
    assert sum("collect" in line for line in lines) == overview.MAX_ROWS
    assert "    and 54 more workers" in lines


def test_workers_at_the_same_place_share_a_row() -> None:
    many = [PausedStatus(str(number), "collect", number, "n", 1, None) for number in range(64)]
    lines = written(of(cluster(paused=many), waiting={URL: merged([], many)}))
    assert [line.split() for line in lines if "collect" in line] == [["paused", "64", "collect", "n"]]


def test_the_cluster_that_the_variables_name_is_printed() -> None:
    lines = written(of(cluster()), width=140, environ={"RAY_ADDRESS": URL})
    assert f"The environment variable RAY_ADDRESS is {URL}: commands without --dashboard use that cluster." in lines


def test_the_advice_depends_on_the_state_of_the_cluster() -> None:
    paused = of(cluster(paused=PAUSED), waiting={URL: merged([], PAUSED)})
    assert commands(paused)[0] == "raydap debug"
    assert commands(of(cluster())) == ["raydap ps", "raydap hang", "F5 in an editor"]
    assert commands(of(cluster(jobs=[])))[:2] == ["raydap run program.py", "raydap debug program.py"]
    assert commands(of(cluster(jobs=None, paused=None, problem="It does not answer.")))[0] == "raydap doctor"
    # With two clusters, a command names its cluster.
    assert commands(of(cluster(), cluster(OTHER)))[0] == f"raydap ps --dashboard {URL}"
    # A worker that is stuck cannot be debugged.
    assert "raydap debug" not in commands(of(cluster(paused=PAUSED[1:]), waiting={URL: merged([], PAUSED[1:])}))


def test_what_a_session_knows_comes_before_what_the_dashboard_knows() -> None:
    first, second = merged([], PAUSED)
    seen = ProcessRow(first.entry, None)
    rows = merged([seen], PAUSED)
    assert rows[0] is seen
    assert [row.entry.key for row in rows] == ["ab", "cd"]
    assert "stuck" in merged([ProcessRow(second.entry, None)], PAUSED)[0].where


def test_a_cluster_that_reports_no_places_is_listed_without_them(monkeypatch: pytest.MonkeyPatch) -> None:
    async def look(*_: object) -> MachineStatus:
        return MachineStatus([], [], [cluster(paused=PAUSED)])

    async def fail(*_: object) -> list[ProcessRow]:
        raise SessionError("it is of another version")

    async def hang(*_: object) -> list[ProcessRow]:
        await asyncio.Event().wait()
        raise AssertionError

    monkeypatch.setattr(machine_status, "look", look)
    monkeypatch.setattr(overview, "PLACES_TIMEOUT_S", 0.01)
    for answer in (fail, hang):
        monkeypatch.setattr(overview, "_with_places", answer)
        view = asyncio.run(overview.look({}))
        assert [row.entry.key for row in view.waiting[URL]] == ["ab", "cd"]


def test_the_command_ends_well_with_nothing_running(monkeypatch: pytest.MonkeyPatch) -> None:
    async def query(*_: object) -> Any:
        return {"clusters": [], "processes": []}

    async def nobody(*_: object) -> list[ClusterStatus]:
        return []

    monkeypatch.setattr(ray_query, "query", query)
    monkeypatch.setattr(machine_status, "look_at_default", nobody)
    for name in ("RAY_ADDRESS", "RAY_API_SERVER_ADDRESS"):
        monkeypatch.delenv(name, raising=False)
    ended = CliRunner().invoke(main, [])
    assert ended.exit_code == 0
    assert "What to do next" in ended.output
    assert ended.output.endswith("raydap --help lists all commands.\n")
