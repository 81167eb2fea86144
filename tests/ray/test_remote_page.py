"""Editors on a hub, configured exactly as the page on remote clusters describes."""

import json
import shutil
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from local_cluster import Child, Cluster

from support import editors_pages as pages
from support.bridge import Hub
from support.editors import EDITORS, Editor, Emacs, Endpoint, Scripted, Step, VsCode
from support.editors_rules import assert_well_behaved

ACTORS = Path(__file__).parents[2] / "docs" / "examples" / "actors.py"
PORT = 4711
"""The hub's port on that page."""


@pytest.fixture
def hub(cluster: Cluster, children: ExitStack, tmp_path: Path) -> Hub:
    started = Hub.start(tmp_path / "hub.log", "--dashboard", cluster.dashboard)
    children.callback(started.end)
    return started


@pytest.fixture
def home(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a home folder where `raydap connect` finds the hub's token, and put `raydap` on the PATH."""
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    runtime = tmp_path / ".local" / "share" / "raydap" / "runtime"
    runtime.mkdir(parents=True, mode=0o700)
    shutil.copy(hub.connection, runtime / "hub.json")
    Endpoint.spawned(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    return tmp_path


def attach(arguments: dict[str, Any]) -> Step:
    return {"do": "start", "request": "attach", "arguments": arguments}


def vscode(hub: Hub) -> Step:
    """Return VS Code's first step. VS Code prompts the user for the values of `inputs`."""
    (text,) = pages.blocks("remote.md", "json")
    page = json.loads(text)
    (configuration,), (asked,) = page["configurations"], page["inputs"]
    assert configuration["debugServer"] == PORT
    assert configuration["token"] == f"${{input:{asked['id']}}}"
    return attach({**configuration, "debugServer": hub.port, "token": hub.token})


def emacs(hub: Hub) -> Step:
    (code,) = pages.blocks("remote.md", "elisp")
    assert f"127.0.0.1:{PORT}" in code
    return {"do": "lisp", "code": code.replace(str(PORT), str(hub.port)), "template": "Ray (hub)"}


STARTS: dict[type[Editor] | type[Scripted], Callable[[Hub], Step]] = {
    Scripted: lambda hub: attach({"token": hub.token}),
    VsCode: vscode,
    Emacs: emacs,
}


@pytest.mark.parametrize("editor", EDITORS, ids=lambda editor: editor.name)
def test_every_stop_of_every_actor(
    editor: type[Editor] | type[Scripted], hub: Hub, home: Path, run_driver: Callable[..., Child]
) -> None:
    driver = run_driver(ACTORS, "--actors", "2", "--iterations", "2")
    steps: list[Step] = [
        STARTS[editor](hub),
        {
            "do": "walk",
            "stops": 4,
            "expression": "f'actor {self.rank}, iteration {iteration}'",
            "results": [f"'actor {rank}, iteration {iteration}'" for rank in range(2) for iteration in range(2)],
        },
        {"do": "disconnect"},
    ]
    transcript = editor().play(steps, Endpoint.listening(hub.port), home)
    assert driver.wait() == 0, driver.output
    assert "result: [1, 21]" in driver.output
    assert len(transcript.bodies("stopped")) == 4
    assert_well_behaved(transcript)


def test_neovim_is_configured_not_to_resume_other_stops() -> None:
    (page,) = pages.blocks("remote.md", "lua")
    assert "auto_continue_if_many_stopped = false" in page
    assert f"ws://127.0.0.1:{PORT}/dap" in page
