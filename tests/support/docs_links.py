"""The links of a built site: each leads to a file, an anchor or a file of the repository. No file is remote."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

from support.release_checks import PROJECT

SITE = "/raydap/"
"""The path of the site on its server, which only 404.html needs."""

LOADED = {"img": "src", "script": "src", "source": "srcset", "iframe": "src", "video": "src"}
"""The attributes whose files a browser loads with the page. Of `link`, the attribute `rel` decides."""


class _Page(HTMLParser):
    """The anchors and links of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        #: The names of the anchors.
        self.anchors: set[str] = set()
        #: The targets of links that a reader can follow.
        self.links: list[str] = []
        #: The addresses that a browser loads with the page.
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.anchors.update(value for name in ("id", "name") if (value := found.get(name)))
        if tag == "a" and (href := found.get("href")):
            self.links.append(href)
        if (name := LOADED.get(tag)) and (value := found.get(name)):
            self.loaded.append(value)
        if tag == "link" and (href := found.get("href")) and found.get("rel") not in ("canonical", "alternate"):
            self.loaded.append(href)
        if style := found.get("style"):
            self.loaded += re.findall(r"url\(['\"]?([^'\")]+)", style)


def problems(site: Path, repository: Path, version: str) -> list[str]:
    """Return a line for each link of the site that leads nowhere, and for each file that comes from a network.

    Links to files of the repository on GitHub, at the tag of the version, are looked up in `repository`. Other links to
    the network are not followed.
    """
    pages = {path: _Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    found = [
        f"{path.relative_to(site)}: {problem}"
        for path, page in pages.items()
        for problem in _of_page(path, page, pages, site, repository, version)
    ]
    for path in sorted(site.rglob("*.css")):
        loaded = re.findall(r"(?:url\(|@import )['\"]?([^'\")]+)", path.read_text(encoding="utf-8"))
        found += [f"{path.relative_to(site)}: loads {url}" for url in loaded if _is_remote(url)]
    return found


def _of_page(
    path: Path, page: _Page, pages: dict[Path, _Page], site: Path, repository: Path, version: str
) -> Iterator[str]:
    for link in page.loaded:
        if _is_remote(link):
            yield f"loads {link} from a network"
        elif not link.startswith("data:") and not _target(path, link, site).is_file():
            yield f"there is no {link}"
    for link in page.links:
        if name := re.match(rf"{PROJECT}/(?:blob|tree)/v{re.escape(version)}/([^#]+)", link):
            if not (repository / name[1]).exists():
                yield f"the repository has no {name[1]}"
            continue
        if _is_remote(link) or link.startswith("mailto:"):
            continue
        address, fragment = urldefrag(link)
        target = _target(path, address, site) if address else path
        if not target.is_file():
            yield f"there is no {link}"
        elif fragment and target in pages and unquote(fragment) not in pages[target].anchors:
            yield f"there is no anchor {link}"


def _is_remote(link: str) -> bool:
    return re.match(r"(?:https?:)?//", link) is not None


def _target(page: Path, link: str, site: Path) -> Path:
    """Return the file that a link of a page leads to."""
    path = unquote(urldefrag(link).url.partition("?")[0])
    target = site / path.removeprefix(SITE) if path.startswith(SITE) else (page.parent / path).resolve()
    return target / "index.html" if target.is_dir() else target
