"""The configurations of the documentation that need no Ray. ray/test_editors.py has the others."""

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
    # The configuration names no cluster. This variable keeps raydap from other clusters of this machine.
    bridge = Bridge.start(tmp_path / "bridge.log", env={"RAY_API_SERVER_ADDRESS": nowhere})
    children.callback(bridge.end)
    steps: list[Step] = [
        {"do": "start", "request": "launch", "arguments": configuration},
        {"do": "output", "category": "stdout", "text": "to stdout"},
        {"do": "exited", "code": 3},
    ]
    assert_well_behaved(VsCode().play(steps, Endpoint.listening(bridge.port), tmp_path))


def test_neovim_is_configured_not_to_resume_other_stops() -> None:
    """Otherwise Neovim resumes every further thread that stops, and the bridge takes that for the user's request."""
    (page,) = pages.blocks("neovim.md", "lua")
    assert "auto_continue_if_many_stopped = false" in page
    assert "auto_continue_if_many_stopped = false" in connect.TEXT
