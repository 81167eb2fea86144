"""F9 and F5: each editor launches a program without breakpoint(), and stops in its actors and in its driver."""

from pathlib import Path
from typing import Any

import pytest
from local_cluster import Cluster

from support.editors import EDITORS, Editor, Endpoint, Scripted
from support.editors_rules import assert_well_behaved
from support.launched_program import PROGRAM
from support.look import line_of


@pytest.mark.parametrize("kind", EDITORS, ids=lambda editor: editor.name)
def test_launch(kind: type[Editor] | type[Scripted], cluster: Cluster, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    in_actor, in_driver = line_of(PROGRAM, "return product"), line_of(PROGRAM, "print")
    arguments = {
        "program": "program.py",
        "cwd": str(tmp_path),
        "dashboard": cluster.dashboard,
        "env": {"RAY_ADDRESS": cluster.address},
    }
    at: dict[str, Any] = {"do": "stop", "reason": "breakpoint", "path": str(path)}
    steps = [
        {"do": "start", "request": "launch", "arguments": arguments, "breakpoints": {str(path): [in_actor, in_driver]}},
        {**at, "line": in_actor, "stack": ["area"]},
        {"do": "locals", "values": {"height": "3"}},
        {"do": "continue"},
        {**at, "line": in_actor, "stack": ["area"]},
        {"do": "continue"},
        {**at, "line": in_driver},
        {"do": "evaluate", "expression": "total", "result": "15"},
        {"do": "continue"},
        {"do": "output", "category": "stdout", "text": "total: 15"},
        {"do": "exited", "code": 0},
    ]
    assert_well_behaved(kind().play(steps, Endpoint.spawned(tmp_path), tmp_path))
