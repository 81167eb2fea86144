"""The players themselves: they fail for a step that does not succeed and for a client that is not installed."""

from pathlib import Path

import pytest

from support.editors import Editor, Emacs, Endpoint, NotInstalled, Scripted, VsCode


def test_a_step_that_is_not_met_fails(
    editor: Editor | Scripted, listening: Endpoint, tmp_path: Path, nowhere: str
) -> None:
    step = {"do": "refused", "request": "attach", "arguments": {"dashbord": nowhere}}
    editor.play([{**step, "says": "dashbord"}], listening, tmp_path)
    with pytest.raises(AssertionError, match="Never said"):
        editor.play([{**step, "says": "Never said"}], listening, tmp_path)


@pytest.mark.parametrize(("editor", "needed"), [(VsCode(), r"Node\.js 18"), (Emacs(), "elpa-dap-mode")])
def test_a_client_that_is_not_installed_is_named(
    editor: Editor, needed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotInstalled, match=needed):
        editor.command(tmp_path / "scenario.json")


def test_packages_of_npm_that_are_not_the_locked_ones_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("support.editors.PACKAGES", tmp_path)
    (tmp_path / "package-lock.json").write_text("{}")
    with pytest.raises(NotInstalled, match="run `make editors`"):
        VsCode().command(tmp_path / "scenario.json")
