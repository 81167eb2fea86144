"""Versions, tags and release notes of `make release`, and the README on PyPI."""

import re
import shutil
from pathlib import Path

import pytest

from support import release_checks
from support.release_checks import ReleaseError

ROOT = Path(__file__).parents[3]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Return a folder with the files that have the version."""
    for name in (*release_checks.PLACES, *release_checks.OPTIONAL):
        if (ROOT / name).exists():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def test_the_version_is_the_same_everywhere(copy: Path) -> None:
    version = release_checks.check_versions(copy)
    assert re.fullmatch(r"\d+\.\d+\.\d+", version)


@pytest.mark.parametrize("name", [name for name in release_checks.PLACES if name != release_checks.SOURCE])
def test_a_file_with_another_version_is_named(copy: Path, name: str) -> None:
    version = release_checks.check_versions(copy)
    text = (copy / name).read_text(encoding="utf-8")
    (copy / name).write_text(text.replace(version, "9.9.9"), encoding="utf-8")
    with pytest.raises(
        ReleaseError, match=rf"(?s)^The version is {version} in pyproject\.toml\..*\n  {name}: 9\.9\.9$"
    ):
        release_checks.check_versions(copy)


def test_an_optional_file_is_checked_if_it_exists(copy: Path) -> None:
    (copy / "server.json").write_text('{"name": "raydap"}', encoding="utf-8")
    with pytest.raises(ReleaseError, match=r"\n  server\.json: no version$"):
        release_checks.check_versions(copy)


CHANGELOG = """# Changelog

## 1.1.0 (unreleased)

- Next, see [errors](docs/errors.md) and [Ray](https://www.ray.io).

## 1.0.0 (2026-12-01)

### Sessions

- First.
"""


def test_the_notes_are_the_changes_of_one_version_with_absolute_links() -> None:
    address = "https://github.com/raydap/raydap/blob/v1.1.0/docs/errors.md"
    notes = release_checks.release_notes(CHANGELOG, "1.1.0")
    assert notes == f"- Next, see [errors]({address}) and [Ray](https://www.ray.io).\n"
    assert release_checks.release_notes(CHANGELOG, "1.0.0") == "### Sessions\n\n- First.\n"


def test_a_version_without_changes_has_no_notes() -> None:
    with pytest.raises(ReleaseError, match=r"^CHANGELOG\.md has no changes of 1\.0\.$"):
        release_checks.release_notes(CHANGELOG, "1.0")


@pytest.mark.parametrize(
    ("tag", "version", "reason"),
    [("v1.0.1", "1.0.0", "name the tag v1.0.0"), ("v1.1.0", "1.1.0", r"## 1\.1\.0 \(YEAR-MONTH-DAY\)")],
)
def test_a_wrong_tag_and_a_missing_date_are_refused(tag: str, version: str, reason: str) -> None:
    with pytest.raises(ReleaseError, match=reason):
        release_checks.check_tag(tag, version, CHANGELOG)


def test_the_tag_of_a_dated_version_is_accepted() -> None:
    release_checks.check_tag("v1.0.0", "1.0.0", CHANGELOG)


def test_the_readme_has_no_relative_link_on_pypi() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    rules = re.findall(r"^pattern = '(.*)'\nreplacement = '(.*)'$", text, re.MULTILINE)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(release_checks.relative_links(readme)) > 10
    for pattern, replacement in rules:
        readme = re.sub(pattern, replacement, readme)
    assert release_checks.relative_links(readme) == []
    assert "/raydap/v$HFPR_VERSION/docs/usage/images/" in readme, "a picture needs the address of the file itself"
    assert "not on PyPI" not in readme
