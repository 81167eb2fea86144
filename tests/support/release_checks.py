"""The checks of `make release` that need no build: versions, release notes, and links of pages for other places."""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path

PROJECT = "https://github.com/raydap/raydap"
"""The address of the repository."""


class ReleaseError(Exception):
    """The release cannot be built. The text names the reason and what to change."""


def _matched(pattern: str) -> Callable[[str], str | None]:
    """Return a function that finds the version in a text as the pattern's only group."""

    def find(text: str) -> str | None:
        found = re.search(pattern, text, re.MULTILINE)
        return found[1] if found else None

    return find


def _in_manifest(text: str) -> str | None:
    version: str | None = json.loads(text).get("version")
    return version


_HEADING = _matched(r"^## (\S+)")

SOURCE = "pyproject.toml"
"""The file whose version all other files must have."""

PLACES: Mapping[str, Callable[[str], str | None]] = {
    SOURCE: _matched(r'^version = "(.+)"$'),
    "adapter/raydap/__init__.py": _matched(r'^__version__ = "(.+)"$'),
    "vscode-ext/package.json": _in_manifest,
    "vscode-ext/package-lock.json": _in_manifest,
    "CHANGELOG.md": _HEADING,
    "vscode-ext/CHANGELOG.md": _HEADING,
    "CITATION.cff": _matched(r"^version: (.+)$"),
    "docs/usage/vscode.md": _matched(r"raydap-(.+)\.vsix"),
}
"""Each file with the version, and how to find it there."""

OPTIONAL: Mapping[str, Callable[[str], str | None]] = {
    "server.json": _in_manifest,
}
"""Files with the version that the repository may lack."""


def check_versions(root: Path) -> str:
    """Return the version of pyproject.toml. Raises ReleaseError with each file that has another version or none."""
    optional = {name: find for name, find in OPTIONAL.items() if (root / name).exists()}
    found = {name: find((root / name).read_text(encoding="utf-8")) for name, find in {**PLACES, **optional}.items()}
    version = found[SOURCE]
    if version is None:
        raise ReleaseError(f"{SOURCE} has no version.")
    wrong = [f"  {name}: {other or 'no version'}" for name, other in found.items() if other != version]
    if wrong:
        raise ReleaseError("\n".join([f"The version is {version} in {SOURCE}. Change these files:", *wrong]))
    return version


def check_tag(tag: str, version: str, changelog: str) -> None:
    """Raise ReleaseError if a tag is not that of the version, or if its changes have no date yet."""
    if tag != f"v{version}":
        raise ReleaseError(f"The tag is {tag}, but the version is {version}: name the tag v{version}.")
    if not re.search(rf"^## {re.escape(version)} \(\d{{4}}-\d\d-\d\d\)$", changelog, re.MULTILINE):
        raise ReleaseError(f"CHANGELOG.md has no date: change its heading to `## {version} (YEAR-MONTH-DAY)`.")


def release_notes(changelog: str, version: str) -> str:
    """Return the section of a version with absolute links. Raises ReleaseError if there is none."""
    found = re.search(rf"^## {re.escape(version)}(?!\S)[^\n]*\n(.*?)(?=^## |\Z)", changelog, re.MULTILINE | re.DOTALL)
    if found is None or not found[1].strip():
        raise ReleaseError(f"CHANGELOG.md has no changes of {version}.")
    return re.sub(r"\]\((?!https?:|#)", f"]({PROJECT}/blob/v{version}/", found[1].strip()) + "\n"


def relative_links(page: str) -> list[str]:
    """Return the targets of links and pictures that work in the repository only."""
    return re.findall(r"\]\((?!https?:|#)([^)]+)\)", page)
