"""The configurations of the documentation that need no Ray; the others are in ray/test_editors.py."""

from contextlib import ExitStack
from pathlib import Path

import connect

from editors.scenarios import PROGRAM
from support import editors_pages as pages
from support.bridge import Bridge
from support.editors import Endpoint, Step, VsCode
from support.editors_rules import assert_well_behaved


def test_vscode_launches_the_file_that_is_open(children: ExitStack, tmp_path: Path, nowhere: str) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    configuration = pages.vscode("Ray: launch this file", file=str(program), workspaceFolder=str(tmp_path))
    # The configuration names no cluster; those that happen to be on this machine are none of our business.
    bridge = Bridge.start(tmp_path / "bridge.log", env={"RAY_API_SERVER_ADDRESS": nowhere})
    children.callback(bridge.end)
    steps: list[Step] = [
        {"do": "start", "request": "launch", "arguments": configuration},
        {"do": "output", "category": "stdout", "text": "to stdout"},
        {"do": "exited", "code": 3},
    ]
    assert_well_behaved(VsCode().play(steps, Endpoint.listening(bridge.port), tmp_path))


def test_neovim_is_told_to_leave_other_stops_alone() -> None:
    """Otherwise it resumes every further thread that stops; the bridge could not tell that from the user's wish."""
    (page,) = pages.blocks("neovim.md", "lua")
    assert "auto_continue_if_many_stopped = false" in page
    assert "auto_continue_if_many_stopped = false" in connect.TEXT
