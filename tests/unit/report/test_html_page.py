"""The page is well formed and escaped for any text of a worker, and begins with the most important facts."""

import hashlib
import math
import re
import subprocess
import sys
from base64 import b64encode
from html.parser import HTMLParser

import msgspec
import pytest
from jinja2 import UndefinedError, nodes
from msgspec import UNSET

from raydap.presentation import stack_pictures
from raydap.protocol.stack_messages import StackNode
from raydap.report import html_page
from raydap.report.records import Outcome, Report, Timeline, TimelineSpan
from support.report_records import crowd_report, error_record, full_report, line_record, node, report, trace_record

HOSTILE = "<script>alert(1)</script>\"'&\x00\ud83d\x1b[31m{{}}"


class Parsed(HTMLParser):
    """A parser that fails if elements are not closed in order. `texts` is all that a reader sees."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())


def parsed(found: Report) -> Parsed:
    return Parsed(html_page.of_report(found))


def test_the_page_needs_nothing_but_itself() -> None:
    page = html_page.of_report(full_report())
    for tag, attributes in Parsed(page).tags:
        assert tag not in ("script", "link", "img", "iframe", "object", "base", "form")
        assert not [name for name in attributes if name.startswith("on")]
        assert (attributes.get("href") or "#").startswith("#")
    assert not re.search(r"url\(|@import|https?://(?!www\.w3\.org)", page)
    assert "prefers-color-scheme: dark" in page


def test_links_lead_somewhere() -> None:
    tags = parsed(full_report()).tags
    ids = {attributes["id"] for _, attributes in tags if "id" in attributes}
    assert {str(attributes["href"])[1:] for tag, attributes in tags if tag == "a"} <= ids


def test_hostile_texts_stay_texts() -> None:
    page = html_page.of_report(full_report(HOSTILE))
    found = Parsed(page)
    assert "<script" not in page
    assert "\x00" not in page
    assert "\x1b" not in page
    assert page.encode(errors="replace").decode() != ""
    assert "train.py<script>alert(1)</script>\"'&" in found.text
    plain = [tag for tag, _ in parsed(full_report("text")).tags]
    assert [tag for tag, _ in found.tags] == plain


def test_what_matters_comes_first() -> None:
    text = parsed(full_report()).text
    first = text[text.index("Most urgent") : text.index(" Errors ")]
    assert "ValueError (.py:3) in Trainer{0-1}, 2 times" in first
    assert "loss was not finite in Trainer 1" in first
    assert "train.py:4 : the condition failed 2 times: NameError" in first
    assert "rate is 0.2 in Trainer 3, and 0.1 in the 3 others" in first
    assert "Trainer 3 is not in all_reduce (train.py:9) , where 3 of 4 are" in first
    assert "exit code 1" in text
    assert "2,468 hits" in text


def test_an_empty_report_says_so() -> None:
    text = parsed(report()).text
    assert "Nothing stands out." in text
    assert "exit code 0" in text
    assert "Errors" not in text


def test_a_report_of_a_program_that_runs() -> None:
    found = parsed(report(ended=None, outcome=Outcome(state="running", code=None, text="Running.")))
    assert "Page written at" in found.text
    assert ("span", {"class": "badge warn"}) in found.tags


def test_a_line_that_no_worker_reached() -> None:
    empty = StackNode(frame=None, count=0, members=(), running=(), label="", children=(), locals=UNSET)
    lonely = line_record(counts=(), tree=empty, looks=(), verified=False, message="There is no code.")
    assert "There is no code." in parsed(report(lines=(lonely,))).text


@pytest.mark.parametrize(("series", "points"), [(1, 1), (3, 400), (500, 3)])
def test_charts_of_any_size(series: int, points: int) -> None:
    tags = parsed(report(traces=(trace_record("", series, points),))).tags
    for _, attributes in tags:
        for numbers in (attributes.get("points"), attributes.get("d")):
            assert all(math.isfinite(float(each)) for each in re.findall(r"-?[\d.]+(?:e-?\d+)?|nan|inf", numbers or ""))
    assert len(tags) < 2000


def test_a_timeline_of_very_many_workers_and_tasks() -> None:
    tasks = [
        TimelineSpan(worker=f"w{number % 500}", name="f", start=1000.0 + number / 1000, end=1060.0)
        for number in range(20_000)
    ]
    page = html_page.of_report(report(timeline=Timeline(tasks=tuple(tasks), pauses=(), more=0)))
    assert "and 440 more workers" in page
    assert len(page) < 2_000_000


def test_the_policy_allows_only_the_style_sheet_of_the_page() -> None:
    page = html_page.of_report(full_report())
    (style,) = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    assert stack_pictures.STYLE in style
    (policy,) = [found["content"] for _, found in Parsed(page).tags if found.get("http-equiv")]
    allowed = b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy == f"default-src 'none'; style-src 'sha256-{allowed}'; base-uri 'none'; form-action 'none'"
    # The policy would also forbid these.
    assert not [found for _, found in Parsed(page).tags if "style" in found]


def hostile(value: object) -> object:
    """Return the value, with HOSTILE in place of each text in it."""
    if isinstance(value, dict):
        return {key: each if key == "state" else hostile(each) for key, each in value.items()}
    if isinstance(value, list):
        return [hostile(each) for each in value]
    return HOSTILE if isinstance(value, str) else value


def test_hostile_texts_stay_texts_in_every_field() -> None:
    fields = hostile(msgspec.to_builtins(full_report("text")))
    found = Parsed(html_page.of_report(msgspec.convert(fields, Report)))
    plain = parsed(full_report("text"))
    assert {(tag, name) for tag, each in found.tags for name in each} <= {
        (tag, name) for tag, each in plain.tags for name in each
    }
    assert {tag for tag, _ in found.tags} <= {tag for tag, _ in plain.tags}


@pytest.mark.parametrize("name", ["page.html", "parts.html"])
def test_each_template_escapes_what_it_inserts(name: str) -> None:
    environment = html_page.templates()
    assert {"page.html", "parts.html", "report.css"} == set(environment.list_templates())
    assert environment.autoescape is True
    assert environment.loader is not None
    source, _, _ = environment.loader.get_source(environment, name)
    tree = environment.parse(source)
    # The style sheet, and the picture that stack_pictures.svg escapes.
    safe = [found for found in tree.find_all(nodes.Filter) if found.name in ("safe", "xmlattr")]
    assert len(safe) == (2 if name == "page.html" else 0)
    assert not [
        found for found in tree.find_all((nodes.MarkSafe, nodes.MarkSafeIfAutoescape, nodes.EvalContextModifier))
    ]
    # Outside of quotes, a value could add attributes.
    assert not re.search(r"=\s*\{[{%]", source)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (HOSTILE, "&lt;script&gt;alert(1)&lt;/script&gt;&#34;&#39;&amp;\N{REPLACEMENT CHARACTER}\ud83d{{}}"),
        ("a\u202eb\tc\nd", "a\N{REPLACEMENT CHARACTER}b\tc\nd"),
        (0.123456789, "0.12346"),
        (12_345, "12345"),
    ],
)
def test_values_are_inserted_as_printable_text(value: object, shown: str) -> None:
    assert html_page.templates().from_string("{{ value }}").render(value=value) == shown


def test_a_name_that_a_template_does_not_know_is_an_error() -> None:
    with pytest.raises(UndefinedError):
        html_page.templates().from_string("{{ report.titel }}").render(report=report())


def test_a_deep_stack_is_shown_whole() -> None:
    """Recursion of a user's program must not become recursion in raydap."""
    place = error_record().location
    root = node(place, 2, "Trainer{0-1}")
    for number in range(200):
        root = node(place, 3 + number, "Trainer{0-1}", node(place, 1, "Trainer 0"), root)
    found = parsed(report(errors=(msgspec.structs.replace(error_record(), tree=node(None, 203, "", root)),)))
    assert [tag for tag, _ in found.tags].count("details") > 400


@pytest.mark.parametrize("kinds", [1, 100])
def test_a_page_of_very_many_workers_and_stops_is_small(kinds: int) -> None:
    page = html_page.of_report(crowd_report(1000, 10_000, kinds))
    tags = [tag for tag, _ in Parsed(page).tags]
    assert len(page) < 2_000_000
    assert len(tags) < 60_000


def test_other_commands_do_not_load_the_templates() -> None:
    program = "import raydap.cli.main, raydap.report.unattended, sys; print('jinja2' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", program], text=True) == "False\n"
