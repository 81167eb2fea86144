"""Editors on real Ray, configured exactly as the documentation describes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from local_cluster import Child, Cluster

from support import editors_pages as pages
from support.bridge import Bridge
from support.editors import EDITORS, Editor, Emacs, Endpoint, Scripted, Step, VsCode
from support.editors_rules import assert_well_behaved

ACTORS = Path(__file__).parents[2] / "docs" / "examples" / "actors.py"

Start = Callable[[int, str], Step]

STARTS: dict[str, tuple[type[Editor] | type[Scripted], Start]] = {
    "script": (Scripted, lambda _, dashboard: attach({"dashboard": dashboard})),
    "vscode.md": (VsCode, lambda port, dashboard: attach(moved(pages.vscode("Ray: attach"), port, dashboard))),
    "vscode as printed": (VsCode, lambda port, dashboard: attach(pages.printed_for_vscode(port, dashboard))),
    "emacs.md": (
        Emacs,
        lambda port, dashboard: {"do": "lisp", "code": pages.emacs(port, dashboard), "template": "Ray: attach"},
    ),
    "emacs as printed": (
        Emacs,
        lambda port, dashboard: {"do": "lisp", "code": pages.printed_for_emacs(port, dashboard)},
    ),
}


def attach(arguments: dict[str, Any]) -> Step:
    return {"do": "start", "request": "attach", "arguments": arguments}


def moved(configuration: dict[str, Any], port: int, dashboard: str) -> dict[str, Any]:
    """Return a configuration of the documentation with another port and another cluster."""
    assert (configuration["debugServer"], configuration["dashboard"]) == (pages.PORT, pages.DASHBOARD)
    return {**configuration, "debugServer": port, "dashboard": dashboard}


@pytest.mark.parametrize("name", [name for name, (editor, _) in STARTS.items() if editor in EDITORS])
def test_every_stop_of_every_actor(
    name: str, bridge: Bridge, cluster: Cluster, run_driver: Callable[..., Child], tmp_path: Path
) -> None:
    editor, start = STARTS[name]
    driver = run_driver(ACTORS, "--actors", "2", "--iterations", "2")
    steps: list[Step] = [
        start(bridge.port, cluster.dashboard),
        {
            "do": "walk",
            "stops": 4,
            "expression": "f'actor {self.rank}, iteration {iteration}'",
            "results": [f"'actor {rank}, iteration {iteration}'" for rank in range(2) for iteration in range(2)],
        },
        {"do": "disconnect"},
    ]
    transcript = editor().play(steps, Endpoint.listening(bridge.port), tmp_path)
    assert driver.wait() == 0
    assert "result: [1, 21]" in driver.output
    assert len(transcript.bodies("stopped")) == 4
    assert_well_behaved(transcript)
