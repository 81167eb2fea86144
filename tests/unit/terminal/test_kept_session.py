"""When a kept session ends, and what its commands print. tests/ray/test_kept_session.py uses a real cluster."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from click.testing import CliRunner

from raydap.cli.main import main
from raydap.client import joining
from raydap.terminal import kept_session
from raydap.terminal.kept_session import GONE_S, LOOK_S
from raydap.terminal.live_session import LiveSession
from support import virtual_time

IDLE_S = 600.0


class Kept:
    """A kept session at these times: seconds since its start, and what happens then."""

    def __init__(self, *events: tuple[float, Callable[["Kept"], None]]) -> None:
        self.own = SimpleNamespace(joined=0, guests=0)
        self.live = LiveSession()
        self.live.session = cast(Any, SimpleNamespace(own=self.own))
        self._events = events

    def end(self) -> tuple[str, float]:
        """Return why the session ends, and when."""

        async def run() -> tuple[str, float]:
            loop = asyncio.get_running_loop()
            for when, happens in self._events:
                loop.call_at(when, happens, self)
            return await kept_session._end_reason(self.live, IDLE_S), loop.time()

        return virtual_time.run(run())


def joins(kept: Kept) -> None:
    kept.own.joined += 1


def stays(kept: Kept) -> None:
    kept.own.guests = 1


def leaves(kept: Kept) -> None:
    kept.own.guests = 0


def breaks(kept: Kept) -> None:
    kept.live.outage = "The dashboard does not answer."


def answers(kept: Kept) -> None:
    kept.live.outage = ""


def is_lost(kept: Kept) -> None:
    kept.live._gone("The connection was lost.")


def test_it_ends_when_no_command_has_joined_for_a_while() -> None:
    assert Kept().end() == ("no command has joined it for 10m 00s", IDLE_S)
    # A command takes less time than passes between two checks.
    reason, when = Kept((500.0, joins)).end()
    assert reason.startswith("no command")
    assert 1100.0 <= when <= 1100.0 + 2 * LOOK_S
    reason, when = Kept((500.0, stays), (5000.0, leaves)).end()
    assert reason.startswith("no command")
    assert 5600.0 - LOOK_S <= when <= 5600.0 + 2 * LOOK_S


def test_it_ends_when_the_cluster_has_gone() -> None:
    reason, when = Kept((100.0, breaks)).end()
    assert reason == f"the cluster has not answered for {GONE_S:g} s"
    assert 160.0 - LOOK_S <= when <= 160.0 + LOOK_S
    # A short outage does not count.
    assert Kept((100.0, breaks), (140.0, answers)).end()[1] == IDLE_S
    assert Kept((100.0, is_lost)).end() == ("The connection was lost.", 100.0)


def test_a_process_that_nobody_has_reaped_has_ended() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        assert kept_session._runs(child.pid)
        assert child.stdin is not None
        child.stdin.close()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert not kept_session._runs(child.pid)
    assert not kept_session._runs(child.pid)


def test_a_long_log_begins_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_session, "MAX_LOG", 4)
    path = tmp_path / "log"
    for text, expected in (("one\n", "one\n"), ("two\n", "one\ntwo\n"), ("3\n", "3\n")):
        with open(kept_session.open_log(path), "w") as file:
            file.write(text)
        assert path.read_text() == expected
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["start", "--idle", "soon"], '"soon" is not a duration. Write 30s, 5m or 1h.'),
        (["start", "--idle", "0s"], '"0s" is not a duration.'),
        (["stop"], "No such command 'stop'"),
    ],
)
def test_wrong_words(words: list[str], text: str) -> None:
    ended = CliRunner().invoke(main, ["session", *words])
    assert ended.exit_code == 2
    assert text in ended.output


def ran(monkeypatch: pytest.MonkeyPatch, *kept: Any) -> Callable[..., int]:
    async def kept_for(dashboard: str | None) -> list[Any]:
        return list(kept)

    monkeypatch.setattr(joining, "kept_for", kept_for)
    return lambda work: asyncio.run(work)


def test_the_end_of_none(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(monkeypatch)(kept_session.end(None)) == 0
    assert capsys.readouterr().out == "There is no kept session.\n"


def test_a_process_that_does_not_start_is_a_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setattr(sys, "executable", "/bin/false")
    assert ran(monkeypatch)(kept_session.start(None, IDLE_S)) == 1
    log = tmp_path / "raydap" / "kept-session.log"
    assert capsys.readouterr().err == f"The session did not start; see {log}.\n"


def test_one_that_cannot_begin_reports_why_to_the_command_that_started_it(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "raydap", "session", "keep", "--dashboard", "http://127.0.0.1:9"]
    env = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}
    ended = subprocess.run(command, capture_output=True, env=env, check=False)
    assert ended.returncode == 1
    (report,) = map(json.loads, ended.stdout.splitlines())
    assert "http://127.0.0.1:9" in report["failed"]
    assert not list(tmp_path.glob("raydap/kept-*.sock"))
