"""The parts of `make release` that need no build."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from support import release, release_checks


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a repository without a commit, which `make release` is run in."""
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    monkeypatch.setattr(release, "ROOT", tmp_path)
    return tmp_path


def test_an_unclean_checkout_is_refused_with_its_changes(checkout: Path) -> None:
    (checkout / "new.py").touch()
    with pytest.raises(SystemExit, match=r"(?s)^raydap: the release is built from the last commit\..*\?\? new\.py$"):
        release.main(["--user-python", "python"])


def test_a_checkout_with_another_version_is_refused(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def check_versions(root: Path) -> str:
        assert root == checkout
        raise release_checks.ReleaseError("The version is 1.0.0 in pyproject.toml.")

    monkeypatch.setattr(release_checks, "check_versions", check_versions)
    with pytest.raises(SystemExit, match=r"^raydap: The version is 1\.0\.0 in pyproject\.toml\.$"):
        release.main(["--user-python", "python"])


def test_files_that_differ_or_are_missing_are_named(tmp_path: Path) -> None:
    first, second = tmp_path / "1", tmp_path / "2"
    for folder, texts in ((first, {"same": "a", "other": "a", "gone": "a"}), (second, {"same": "a", "other": "b"})):
        folder.mkdir()
        for name, text in texts.items():
            (folder / name).write_text(text)
    assert release.differences(first, second) == ["gone", "other"]


def test_the_sbom_of_the_extension_has_what_the_bundle_has() -> None:
    def component(name: str) -> dict[str, Any]:
        properties = [{"name": "cdx:npm:package:development", "value": "true"}, {"name": "path", "value": "x"}]
        return {"bom-ref": f"raydap@1|{name}@1", "name": name, "properties": properties}

    def dependency(name: str, *needs: str) -> dict[str, Any]:
        return {"ref": f"raydap@1|{name}@1", "dependsOn": [f"raydap@1|{need}@1" for need in needs]}

    root = {"ref": "raydap@1", "dependsOn": [f"raydap@1|{name}@1" for name in ("esbuild", "vscode-languageclient")]}
    sbom = {
        "metadata": {"component": {"bom-ref": "raydap@1"}},
        "components": [component(name) for name in ("esbuild", "protocol", "semver", "vscode-languageclient")],
        "dependencies": [
            root, dependency("esbuild"), dependency("protocol", "semver"), dependency("semver"),
            dependency("vscode-languageclient", "protocol"),
        ],
    }  # fmt: skip
    found = release.needed(sbom, f"|{release.BUNDLED}@")
    assert [each["name"] for each in found["components"]] == ["protocol", "semver", "vscode-languageclient"]
    assert found["components"][0]["properties"] == [{"name": "path", "value": "x"}]
    assert found["dependencies"][0] == {"ref": "raydap@1", "dependsOn": ["raydap@1|vscode-languageclient@1"]}
    assert len(found["dependencies"]) == 4


def test_an_sbom_has_no_package_that_raydap_does_not_need() -> None:
    sbom = {
        "metadata": {"component": {"bom-ref": "root"}},
        "components": [{"bom-ref": "click", "name": "click"}, {"bom-ref": "pip", "name": "pip"}],
        "dependencies": [{"ref": "root", "dependsOn": ["click"]}, {"ref": "click"}, {"ref": "pip"}],
    }
    assert release.needed(sbom)["components"] == [{"bom-ref": "click", "name": "click"}]
