"""The assertions of VS Code's own DAP client, applied to the bridge."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from editors.scenarios import AREAS, PROGRAM
from support.debuggee import Debuggee
from support.editors import HERE, Endpoint, VsCode
from support.look import line_of


@pytest.mark.parametrize("way", ["listening", "spawned"])
def test_its_own_assertions(
    way: str,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    nowhere: str,
    plain_debugpy: Callable[[str], Debuggee],
) -> None:
    endpoint: Endpoint = request.getfixturevalue(way)
    debuggee = plain_debugpy(AREAS)
    (tmp_path / "program.py").write_text(PROGRAM)
    arguments = {
        **endpoint.as_json(),
        "attach": {"workers": [f"{debuggee.host}:{debuggee.port}"]},
        "path": str(debuggee.path),
        "line": line_of(AREAS, "found = 0"),
        "launch": {"program": "program.py", "cwd": str(tmp_path), "dashboard": nowhere},
    }
    editor = VsCode()
    output = editor.run([editor.node(), str(HERE / "native.js"), json.dumps(arguments)], tmp_path)
    assert output.splitlines() == ["hitsBreakpoint: passed", "runsProgram: passed"]
    assert debuggee.child.wait() == 0
