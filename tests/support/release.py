"""`make release`: build all files of a release twice, compare them bit by bit, and put them into dist/.

Each build starts from the last commit in a folder of its own, so that no other file of the checkout gets into a
package. All times in the files are that of the commit.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from support import release_checks
from support.release_checks import ReleaseError

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
EXTENSION_TOOLS = ROOT / "vscode-ext" / "node_modules"
PUBLISH_TOOLS = ROOT / ".ci" / "publish" / "node_modules"

WHEEL_GOAL = 800_000
"""The size in bytes that the wheel should not exceed. A larger wheel is reported, and does not stop the release."""

BUNDLED = "vscode-languageclient"
"""The package that the vsix contains, with all packages that it needs. All other npm packages only build the vsix."""


def main(arguments: list[str] | None = None) -> None:
    """Build the release; exit with a sentence if it cannot be built."""
    parser = argparse.ArgumentParser(prog="make release", description=__doc__)
    parser.add_argument(
        "--user-python", type=Path, required=True, help="the Python of an environment with raydap alone"
    )
    options = parser.parse_args(arguments)
    try:
        _release(options.user_python.absolute(), os.environ.get("TAG", ""))
    except ReleaseError as error:
        raise SystemExit(f"raydap: {error}") from None


def _release(user_python: Path, tag: str) -> None:
    """Build, compare and check the release; with a tag also refuse a version that is not ready to be published."""
    if changed := _output("git", "status", "--porcelain"):
        raise ReleaseError(f"the release is built from the last commit. Commit or remove these changes:\n{changed}")
    version = release_checks.check_versions(ROOT)
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    notes = release_checks.release_notes(changelog, version)
    if tag:
        release_checks.check_tag(tag, version, changelog)
    epoch = _output("git", "log", "-1", "--format=%ct")
    environment = {**os.environ, "SOURCE_DATE_EPOCH": epoch, "BOM_REPRODUCIBLE": "1"}
    with tempfile.TemporaryDirectory(prefix="raydap-release-") as name:
        first, second = Path(name) / "first", Path(name) / "second-build"
        for folder in (first, second):
            click.echo(f"raydap: building {version} ({folder.name})")
            _build(folder, version, notes, user_python, environment)
        if different := differences(first / "dist", second / "dist"):
            raise ReleaseError(f"two builds differ in {', '.join(different)}; compare them with diffoscope")
        _check(first, environment)
        shutil.rmtree(ROOT / "dist", ignore_errors=True)
        shutil.copytree(first / "dist", ROOT / "dist")
    click.echo(f"raydap: {version} is in dist/; two builds are bit-identical")
    for path in sorted((ROOT / "dist").iterdir()):
        click.echo(f"  {path.stat().st_size:>9,} {path.name}")
    (wheel,) = (ROOT / "dist").glob("*.whl")
    if wheel.stat().st_size > WHEEL_GOAL:
        click.echo(f"raydap: the wheel is larger than its goal of {WHEEL_GOAL:,} bytes")


def _build(folder: Path, version: str, notes: str, user_python: Path, environment: Mapping[str, str]) -> None:
    """Build all files from the last commit into `folder/dist`."""
    tree, dist = folder / "tree", folder / "dist"
    tree.mkdir(parents=True)
    dist.mkdir()
    with subprocess.Popen(["git", "archive", "HEAD"], cwd=ROOT, stdout=subprocess.PIPE) as archive:
        subprocess.run(["tar", "-x", "-C", tree], stdin=archive.stdout, check=True)
    _run(tree, environment, BIN / "python", "-m", "build", "--no-isolation", "--outdir", dist, ".")
    extension = tree / "vscode-ext"
    (extension / "node_modules").symlink_to(EXTENSION_TOOLS.resolve())
    _run(extension, environment, "npm", "run", "--silent", "vsix", "--", "--out", dist / f"raydap-{version}.vsix")
    # The site describes the code of the commit.
    code = os.pathsep.join(str(tree / name) for name in ("adapter", "tests"))
    _run(
        tree, {**environment, "PYTHONPATH": code}, BIN / "python", "-m", "support.docs_site",
        "--out", folder / "site", "--zip", dist / f"raydap-{version}-docs.zip",
    )  # fmt: skip
    python_sbom = dist / f"raydap-{version}-python.cdx.json"
    _run(
        tree, environment, BIN / "cyclonedx-py", "environment", "--output-reproducible",
        "--pyproject", "pyproject.toml", "--output-file", python_sbom, user_python,
    )  # fmt: skip
    npm_sbom = dist / f"raydap-{version}-vscode.cdx.json"
    _run(
        extension, environment, PUBLISH_TOOLS / ".bin" / "cyclonedx-npm", "--output-reproducible",
        "--package-lock-only", "--output-file", npm_sbom, "package.json",
    )  # fmt: skip
    for path, direct in ((python_sbom, ""), (npm_sbom, f"|{BUNDLED}@")):
        sbom = needed(json.loads(path.read_text(encoding="utf-8")), direct)
        path.write_text(json.dumps(sbom, indent=2) + "\n", encoding="utf-8")
    (dist / "RELEASE_NOTES.md").write_text(notes, encoding="utf-8")
    sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sorted(dist.iterdir())]
    (dist / "SHA256SUMS").write_text("".join(sums), encoding="utf-8")


def needed(sbom: dict[str, Any], direct: str = "") -> dict[str, Any]:
    """Return an SBOM without what only builds or installs raydap.

    Only the direct dependencies with `direct` in their references are kept, and all packages that they need.
    """
    needed_by = {entry["ref"]: entry.get("dependsOn", []) for entry in sbom["dependencies"]}
    root = sbom["metadata"]["component"]["bom-ref"]
    needed_by[root] = [ref for ref in needed_by[root] if direct in ref]
    kept, waiting = {root}, [root]
    while waiting:
        found = [ref for ref in needed_by.get(waiting.pop(), []) if ref not in kept]
        kept.update(found)
        waiting += found
    components = [component for component in sbom["components"] if component["bom-ref"] in kept]
    for component in components:
        # npm takes the packages in the bundle for development dependencies.
        if properties := component.get("properties"):
            component["properties"] = [each for each in properties if each["name"] != "cdx:npm:package:development"]
    dependencies = [{"ref": ref, "dependsOn": needed_by.get(ref, [])} for ref in sorted(kept)]
    return {**sbom, "components": components, "dependencies": dependencies}


def differences(first: Path, second: Path) -> list[str]:
    """Return the names of the files that are not the same in both folders."""
    names = {path.name for folder in (first, second) for path in folder.iterdir()}

    def content(path: Path) -> bytes | None:
        return path.read_bytes() if path.exists() else None

    return sorted(name for name in names if content(first / name) != content(second / name))


def _check(folder: Path, environment: Mapping[str, str]) -> None:
    """Check the packages by the tools of their indexes. Raises ReleaseError."""
    dist = folder / "dist"
    (wheel,), (sdist,) = dist.glob("*.whl"), dist.glob("*.tar.gz")
    _run(folder, environment, BIN / "twine", "check", "--strict", wheel, sdist)
    _run(folder, environment, BIN / "check-wheel-contents", wheel)
    _run(ROOT, environment, BIN / "validate-pyproject", "pyproject.toml")
    _run(ROOT, environment, BIN / "check-sdist", "--no-isolation")
    _run(folder, environment, BIN / "pyroma", "--min", "10", "tree")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (metadata,) = (archive.read(name).decode() for name in names if name.endswith(".dist-info/METADATA"))
    if links := release_checks.relative_links(metadata):
        raise ReleaseError(f"the README on PyPI has relative links: {', '.join(links)}")
    if "raydap/py.typed" not in names:
        raise ReleaseError("the wheel has no py.typed")


def _run(folder: Path, environment: Mapping[str, str], *command: str | Path) -> None:
    """Run a command and print its output only if it fails. Raises ReleaseError."""
    done = subprocess.run(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode != 0:
        raise ReleaseError(f"{' '.join(map(str, command))} failed:\n{done.stdout}")


def _output(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    main()
