"""`make site`: build the documentation site from docs/ with Zensical, and check each link of it.

Zensical builds from a copy of docs/, in which links to files outside of docs/ lead to their pages on the site, or to
GitHub. The copy also has the pages that are generated from code (docs_reference.py).
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

import click

from support import docs_links, docs_reference, release_checks

ROOT = Path(__file__).parents[2]

RULES = "adapter/raydap/lsp/pages"
"""The folder of the pages that explain the language server's rules."""

PAGES: Mapping[str, str] = {
    "CHANGELOG.md": "changes.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "report-a-vulnerability.md",
}
"""The pages of the site that are outside of docs/, with their files on the site."""

INSTEAD: Mapping[str, str] = {
    "README.md": "index.md",
    "vscode-ext/src/protocol/messages.ts": "reference/messages.md",
}
"""Files of the repository that links name, with the pages of the site that have the same content."""

HEADS: Mapping[str, str] = {
    "index.md": "---\nhide:\n  - navigation\n  - toc\n---\n\n",
    "changes.md": "---\nsearch:\n  exclude: true\n---\n\n",
}
"""Instructions for Zensical at the beginning of a page, which GitHub would show as a table."""

FILES = ("*.md", "*.png", "*.svg", "*.webp", "*.css", "*.js")
"""The files of docs/ that are on the site."""


class SiteError(Exception):
    """The site cannot be built. The text names each broken link, or contains the output of Zensical."""


def main(arguments: list[str] | None = None) -> None:
    """Build the site; exit with a sentence if it cannot be built."""
    parser = argparse.ArgumentParser(prog="make site", description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "dist" / "site", help="the folder of the site")
    parser.add_argument("--zip", type=Path, help="write the site into this file, too")
    options = parser.parse_args(arguments)
    try:
        build(ROOT, options.out)
    except SiteError as error:
        raise SystemExit(f"raydap: {error}") from None
    if options.zip is not None:
        pack(options.out, options.zip)
    click.echo(f"raydap: the site is in {options.out}; all links lead somewhere")


def build(root: Path, out: Path) -> None:
    """Build the site of the checkout `root` into the folder `out`, and check it. Raises SiteError."""
    if find_spec("zensical") is None:
        raise SiteError("Zensical, which builds the site, is not installed. It needs Python 3.11: set PYTHON to one.")
    version = release_checks.check_versions(root)
    with tempfile.TemporaryDirectory(prefix="raydap-site-") as name:
        copy = Path(name)
        stage(root, copy, version)
        # Zensical would read the settings of CI services from the environment.
        environment = {key: value for key, value in os.environ.items() if not key.startswith("CI")}
        done = subprocess.run(
            [sys.executable, "-m", "zensical", "build", "--strict", "--config-file", copy / "zensical.toml"],
            cwd=copy, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
        )  # fmt: skip
        if done.returncode != 0:
            output = re.sub(r"\x1b\[[\d;]*m", "", done.stdout)
            # A warning ends Zensical by an exception. Its traceback would hide the warnings.
            raise SiteError(
                f"Zensical failed:\n{re.sub(r'Traceback.*strict flag is set', '', output, flags=re.DOTALL)}"
            )
        # Nothing on the site needs its configuration.
        (copy / "site" / "site" / "zensical.toml").unlink(missing_ok=True)
        if problems := docs_links.problems(copy / "site", root, version):
            raise SiteError("\n".join(["the site has broken links:", *problems]))
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(copy / "site", out)


def stage(root: Path, copy: Path, version: str) -> None:
    """Write what Zensical builds from into the folder `copy`: zensical.toml and docs/."""
    docs = copy / "docs"
    pages = _pages(root)
    for source, target in pages.items():
        text = (root / source).read_text(encoding="utf-8")
        text = rewritten(with_error_anchors(text), root, source, pages, version)
        _write(docs / target, HEADS.get(target, "") + text)
    for name, text in docs_reference.pages(root).items():
        _write(docs / name, text)
    for pattern in FILES[1:]:
        for path in (root / "docs").rglob(pattern):
            place = docs / path.relative_to(root / "docs")
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, place)
    shutil.copyfile(root / "vscode-ext" / "media" / "icon.svg", docs / "site" / "icon.svg")
    words = {"VERSION": version, "RULES": _entries(pages, RULES), "DECISIONS": _entries(pages, "docs/design")}
    config = (root / "docs" / "site" / "zensical.toml").read_text(encoding="utf-8")
    _write(copy / "zensical.toml", re.sub(r"@([A-Z]+)@", lambda found: words[found[1]], config))


def _pages(root: Path) -> dict[str, str]:
    """Return each Markdown file that becomes a page, relative to the root, with its name on the site."""
    found = {
        str(path.relative_to(root)): str(path.relative_to(root / "docs")) for path in (root / "docs").rglob("*.md")
    }
    found |= {f"{RULES}/{path.name}": f"reference/rules/{path.name}" for path in (root / RULES).glob("*.md")}
    return dict(sorted({**found, **PAGES}.items()))


def _entries(pages: Mapping[str, str], folder: str) -> str:
    """Return the pages of a folder as entries of the navigation, which get their titles from the pages."""
    return ", ".join(f'"{target}"' for source, target in pages.items() if source.startswith(f"{folder}/"))


def with_error_anchors(text: str) -> str:
    """Return a page with an anchor in the row of each error, and with links of error numbers that lead there."""
    text = re.sub(r"^\| (\d{4}) \|", r'| <a id="\1"></a>\1 |', text, flags=re.MULTILINE)
    return re.sub(r"\[(\d{4})\]\(([./]*errors\.md)\)", r"[\1](\2#\1)", text)


def rewritten(text: str, root: Path, source: str, pages: Mapping[str, str], version: str) -> str:
    """Return a page with links for its place on the site. Blocks of code are not changed."""
    places = {**pages, **INSTEAD}
    here = Path(pages[source]).parent

    def new(found: re.Match[str]) -> str:
        target, mark, fragment = found[1].partition("#")
        path = os.path.normpath(Path(source).parent / target)
        if path in places:
            return f"]({os.path.relpath(places[path], here)}{mark}{fragment})"
        if path.startswith("docs/") and f"*{Path(path).suffix}" in FILES:
            return f"]({os.path.relpath(path.removeprefix('docs/'), here)}{mark}{fragment})"
        if not (root / path).exists():
            return found[0]
        kind = "tree" if (root / path).is_dir() else "blob"
        return f"]({release_checks.PROJECT}/{kind}/v{version}/{path}{mark}{fragment})"

    parts = re.split(r"(^ *```.*?^ *```$)", text, flags=re.MULTILINE | re.DOTALL)
    parts[::2] = [re.sub(r"\]\((?!\w+:|#)([^)\s]+)\)", new, part) for part in parts[::2]]
    return "".join(parts)


def pack(site: Path, archive: Path) -> None:
    """Write the site into a zip file. The bytes depend on nothing but the site's files."""
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as target:
        for path in sorted(path for path in site.rglob("*") if path.is_file()):
            entry = zipfile.ZipInfo(str(path.relative_to(site)))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            target.writestr(entry, path.read_bytes())


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
