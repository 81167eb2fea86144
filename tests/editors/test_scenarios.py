"""Every scenario, played by existing clients and by raydap's own, over TCP and over stdio."""

from collections.abc import Callable
from pathlib import Path

import pytest

from editors.scenarios import SCENARIOS, Scenario, Stage
from support.debuggee import Debuggee
from support.editors import Editor, Endpoint, Scripted
from support.editors_rules import assert_well_behaved


@pytest.mark.parametrize("way", ["listening", "spawned"])
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name.replace(" ", "-"))
def test_scenario(
    scenario: Scenario,
    editor: Editor | Scripted,
    way: str,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    nowhere: str,
    start_workers: Callable[..., list[Debuggee]],
) -> None:
    endpoint: Endpoint = request.getfixturevalue(way)
    for name, text in scenario.files.items():
        (tmp_path / name).write_text(text)
    debuggees = start_workers(*scenario.workers)
    transcript = editor.play(scenario.steps(Stage(tmp_path, debuggees, nowhere)), endpoint, tmp_path)
    for debuggee in debuggees:
        assert debuggee.child.wait() == 0
        assert "total: 26" in debuggee.child.output
    assert_well_behaved(transcript)
