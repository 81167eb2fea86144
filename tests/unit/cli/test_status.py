"""The output of `raydap status`."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from raydap.cli.main import main
from raydap.cluster.dashboard.local_clusters import minute
from raydap.hub import connection_file
from raydap.hub.connection_file import ConnectionInfo
from raydap.hub.machine_status import ClusterStatus, HubStatus, MachineStatus, PausedStatus, SessionStatus
from raydap.terminal.status_lines import render

URL = "http://127.0.0.1:8265"
SINCE = minute(0)


def test_empty_lists_are_shown_as_none() -> None:
    assert render(MachineStatus([], [], [])) == "Hubs:\n  none\nSessions:\n  none\nClusters:\n  none"


def test_everything_is_one_line_each() -> None:
    paused = [
        PausedStatus("ab", "Trainer.update", 7, "10.0.0.7", 4711, False),
        PausedStatus("cd", "", 8, "10.0.0.8", 4712, None),
        PausedStatus("ef", "", 9, "10.0.0.7", 4713, True),
    ]
    found = MachineStatus(
        hubs=[
            HubStatus("ws://127.0.0.1:1/dap", 5, 0, 2, [URL]),
            HubStatus("ws://127.0.0.1:2/dap", None, None, None, [], forwarded=False),
            HubStatus("ws://10.0.0.7:3/dap", None, None, None, [URL]),
        ],
        sessions=[SessionStatus(6, "adapter", "nvim", 0, [URL]), SessionStatus(7, "connect", "", 0, [])],
        clusters=[
            ClusterStatus(URL, "me", True, 0, ["train.py"], paused),
            ClusterStatus("http://127.0.0.1:8266", "me", True, 0, [], []),
            ClusterStatus("http://127.0.0.1:8267", "me", True, 0, problem="It does not answer."),
            ClusterStatus("10.0.0.9:6379", "alice", False, 0),
        ],
        problem="The processes are not known.",
    )
    assert render(found).splitlines() == [
        "The processes are not known.",
        "Hubs:",
        f"  ws://127.0.0.1:1/dap  pid 5, since {SINCE}, 2 clients, debugs {URL}",
        "  ws://127.0.0.1:2/dap  on another machine, nothing forwards its port",
        f"  ws://10.0.0.7:3/dap  on another machine, debugs {URL}",
        "Sessions:",
        f"  pid 6  raydap adapter, started by nvim, since {SINCE}, debugs {URL}",
        f"  pid 7  raydap connect, since {SINCE}",
        "Clusters:",
        f"  {URL}  by me, since {SINCE}, runs train.py, 3 paused workers",
        "    Trainer.update  pid 7 on 10.0.0.7",
        "    worker  pid 8 on 10.0.0.8",
        "    worker  pid 9 on 10.0.0.7, stuck: nothing listens at its debug port 4713; restart its task, actor or job",
        f"  http://127.0.0.1:8266  by me, since {SINCE}, no job runs, no paused workers",
        f"  http://127.0.0.1:8267  by me, since {SINCE}",
        "    It does not answer.",
        f"  10.0.0.9:6379  by alice, since {SINCE}, not inspected",
    ]


def test_the_token_of_a_hub_is_not_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    connection_file.write(ConnectionInfo("127.0.0.1", 4711, False, "s3cret", 0, URL))
    text, data = (CliRunner().invoke(main, ["status", *options]) for options in ([], ["--json"]))
    assert text.exit_code == data.exit_code == 0
    assert "ws://127.0.0.1:4711/dap  on another machine" in text.output
    # Hubs of other tests have no connection file in this folder, and are found by their processes.
    (hub,) = [each for each in json.loads(data.output)["hubs"] if each["url"] == "ws://127.0.0.1:4711/dap"]
    assert hub["debugs"] == [URL]
    assert "s3cret" not in text.output + data.output
