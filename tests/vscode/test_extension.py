"""The tests of the VS Code extension in vscode-ext/test."""

import re
import zipfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from local_cluster import Cluster

from support import vscode


def test_units(tmp_path: Path) -> None:
    vscode.units(tmp_path)


@pytest.fixture(scope="module")
def player(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[vscode.Player]:
    started = vscode.Player(cluster, tmp_path_factory.mktemp("drives"))
    yield started
    started.end()


@pytest.mark.ray
@pytest.mark.parametrize("name", vscode.drives())
def test_drive(name: str, player: vscode.Player, tmp_path: Path) -> None:
    if name == "site" and find_spec("zensical") is None:
        pytest.skip("Zensical, which builds the site, needs Python 3.11")
    player.drive(name, tmp_path)


def test_what_is_not_installed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(vscode.NotInstalled, match="apt-get install chromium"):
        vscode.chromium()
    monkeypatch.setattr("support.vscode.OUT", vscode.HERE / "nowhere")
    with pytest.raises(vscode.NotInstalled, match="make workbench"):
        vscode.units(tmp_path)


def test_a_test_that_fails_there_fails_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "unit").mkdir()
    (tmp_path / "unit" / "wrong.test.js").write_text("require('node:test')('wrong', () => { throw Error('oh') })")
    (tmp_path / "bin").symlink_to(vscode.OUT / "bin")
    monkeypatch.setattr("support.vscode.OUT", tmp_path)
    with pytest.raises(AssertionError, match="oh"):
        vscode.units(tmp_path)


def test_the_package_has_all_files_that_its_manifest_names() -> None:
    with zipfile.ZipFile(vscode.extension()) as package:
        there = {name.removeprefix("extension/") for name in package.namelist()}
    manifest = (vscode.HERE / "package.json").read_text(encoding="utf-8")
    named = set(re.findall(r'"(?:\./)?((?:dist|media|walkthrough)/[^"]+)"', manifest))
    assert "media/icon.png" in named
    assert {*named, "dist/example/trainer.py"} <= there
