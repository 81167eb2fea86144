"""The documentation site: its links, its pages, and where links of the repository lead on it."""

import sys
from pathlib import Path

import pytest

from support import docs_links, docs_reference, docs_site
from support.release_checks import PROJECT

ROOT = Path(__file__).parents[3]


@pytest.mark.slow
@pytest.mark.skipif(sys.version_info < (3, 11), reason="Zensical needs Python 3.11")
def test_the_site_has_no_broken_link_and_each_page_is_in_its_navigation(tmp_path: Path) -> None:
    """`make site` prints the same errors."""
    site = tmp_path / "site"
    docs_site.build(ROOT, site)
    docs_site.stage(ROOT, tmp_path / "copy", "0.0.0")
    config = (tmp_path / "copy" / "zensical.toml").read_text(encoding="utf-8")
    names = [str(path.relative_to(tmp_path / "copy" / "docs")) for path in (tmp_path / "copy" / "docs").rglob("*.md")]
    assert [name for name in names if f'"{name}"' not in config] == []
    assert [name for name in names if not (site / name).with_suffix(".html").is_file()] == []


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Return the folder of a site with two pages."""
    (tmp_path / "usage").mkdir()
    (tmp_path / "index.html").write_text('<h1 id="top">A</h1><a href="usage/b.html#x">b</a>')
    (tmp_path / "usage" / "b.html").write_text('<p id="x"></p><a href="../index.html#top">a</a><a href="#x">x</a>')
    return tmp_path


def test_links_that_lead_somewhere_are_no_problem(site: Path) -> None:
    assert docs_links.problems(site, ROOT, "1.0") == []


@pytest.mark.parametrize(
    ("element", "problem"),
    [
        ('<a href="usage/c.html">', "there is no usage/c.html"),
        ('<a href="usage/b.html#y">', "there is no anchor usage/b.html#y"),
        ('<a href="#y">', "there is no anchor #y"),
        ('<img src="usage/c.png">', "there is no usage/c.png"),
        ('<source srcset="usage/c.webp">', "there is no usage/c.webp"),
        ('<script src="https://a.org/b.js">', "loads https://a.org/b.js from a network"),
        ('<link rel="stylesheet" href="//a.org/b.css">', "loads //a.org/b.css from a network"),
        ('<p style="background: url(https://a.org/b.png)">', "loads https://a.org/b.png from a network"),
        (f'<a href="{PROJECT}/blob/v1.0/nowhere.py">', "the repository has no nowhere.py"),
    ],
)
def test_a_problem_is_named_with_its_page(site: Path, element: str, problem: str) -> None:
    page = site / "index.html"
    page.write_text(page.read_text() + element)
    assert docs_links.problems(site, ROOT, "1.0") == [f"index.html: {problem}"]


def test_a_style_sheet_loads_nothing_from_a_network(site: Path) -> None:
    (site / "a.css").write_text("@import 'https://a.org/b.css'; p { background: url(data:image/png;base64,) }")
    assert docs_links.problems(site, ROOT, "1.0") == ["a.css: loads https://a.org/b.css"]


@pytest.mark.parametrize(
    ("source", "link", "target"),
    [
        ("docs/usage/vscode.md", "session.md#launch", "session.md#launch"),
        ("docs/usage/vscode.md", "images/60-report.png", "images/60-report.png"),
        ("docs/testing.md", "../CONTRIBUTING.md", "contributing.md"),
        ("docs/usage/report.md", "../../README.md#install", "../index.md#install"),
        ("CHANGELOG.md", "docs/usage/session.md#any", "usage/session.md#any"),
        ("CHANGELOG.md", "docs/workers.svg", "workers.svg"),
        ("docs/requests.md", "../vscode-ext/src/protocol/messages.ts", "reference/messages.md"),
        ("docs/usage/x.md", "../../adapter/raydap/lsp/pages/local-mode.md", "../reference/rules/local-mode.md"),
        ("docs/usage/terminal.md", "../examples/rollouts.py", f"{PROJECT}/blob/v1.0/docs/examples/rollouts.py"),
        ("docs/testing.md", "../tests", f"{PROJECT}/tree/v1.0/tests"),
        ("docs/testing.md", "nowhere.md", "nowhere.md"),
        ("docs/testing.md", "https://www.ray.io", "https://www.ray.io"),
        ("docs/testing.md", "#fixtures", "#fixtures"),
    ],
)  # fmt: skip
def test_a_link_of_the_repository_leads_to_the_page_of_the_site_or_to_github(
    source: str, link: str, target: str
) -> None:
    pages = {
        source: source.removeprefix("docs/") if source.startswith("docs/") else docs_site.PAGES[source],
        "CONTRIBUTING.md": "contributing.md",
        "docs/usage/session.md": "usage/session.md",
        "adapter/raydap/lsp/pages/local-mode.md": "reference/rules/local-mode.md",
    }
    text = f"[a]({link})\n\n```\n[a](../README.md)\n```\n"
    expected = f"[a]({target})\n\n```\n[a](../README.md)\n```\n"
    assert docs_site.rewritten(text, ROOT, source, pages, "1.0") == expected


def test_the_number_of_an_error_leads_to_its_row() -> None:
    assert docs_site.with_error_anchors("error [3001](../errors.md)") == "error [3001](../errors.md#3001)"
    assert docs_site.with_error_anchors("| 3001 | x | y |\n") == '| <a id="3001"></a>3001 | x | y |\n'


def test_without_zensical_the_error_names_the_python_that_it_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(docs_site, "find_spec", lambda _: None)
    with pytest.raises(SystemExit, match=r"^raydap: Zensical.* needs Python 3\.11"):
        docs_site.main(["--out", str(tmp_path / "site")])
    assert list(tmp_path.iterdir()) == []


def test_two_archives_of_the_same_files_are_equal(site: Path, tmp_path: Path) -> None:
    archives = [tmp_path.parent / f"{tmp_path.name}-{number}.zip" for number in range(2)]
    for archive in archives:
        docs_site.pack(site, archive)
        (site / "index.html").touch()
    assert archives[0].read_bytes() == archives[1].read_bytes()


def test_the_reference_has_each_command_setting_and_request() -> None:
    pages = docs_reference.pages(ROOT)
    assert "### raydap session start\n" in pages["reference/commands.md"]
    assert "<code>raydap.languageServer.ignore</code>" in pages["reference/vscode.md"]
    assert (
        "| `raydap/compare` | [`CompareArguments`](#comparearguments) | [`Comparison`](#comparison) |"
        in (pages["reference/messages.md"])
    )


def test_a_text_of_code_is_shown_as_it_is() -> None:
    assert docs_reference.cell("a | b <c>\nand `d|e <f>`, see docs/usage/sets.md") == (
        "a &#124; b &lt;c&gt; and `d|e <f>`, see [usage/sets](../usage/sets.md)"
    )
