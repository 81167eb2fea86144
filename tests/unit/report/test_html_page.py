"""The page is well formed and escaped for any text of a worker, and begins with the most important facts."""

import math
import re
from html.parser import HTMLParser

import msgspec
import pytest
from msgspec import UNSET

from raydap.protocol.stack_messages import (
    CodeLocation,
    MergedStacks,
    MissingMembers,
    StackNode,
    StackVariable,
    WorkerPlace,
)
from raydap.protocol.value_messages import Statistics
from raydap.report import html_page
from raydap.report.known_workers import KnownWorkers
from raydap.report.page_elements import element
from raydap.report.records import (
    ErrorRecord,
    KindCount,
    LineRecord,
    Note,
    Outcome,
    Point,
    Report,
    SampleRecord,
    Series,
    TextGroup,
    Timeline,
    TimelineSpan,
    TraceRecord,
    WorkerRecord,
)
from raydap.report.watched_lines import Looks
from support.report_records import entry, frame, look, node, report

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


def workers() -> KnownWorkers:
    known = KnownWorkers()
    known.take([entry(f"w{number}", actor="Trainer") for number in range(4)])
    known.ranks = {f"w{number}": number for number in range(4)}
    return known


def looks(name: str = "rate") -> Looks:
    found = Looks()
    for number in range(4):
        shown = frame()
        shown = msgspec.structs.replace(
            shown, variables=(StackVariable(name=name, value=str(0.2 if number == 3 else 0.1), type="float"),)
        )
        found.add("Trainer", look(f"w{number}", frame("main", 1), shown))
    return found


def line(text: str = "", **more: object) -> LineRecord:
    found = looks()
    values: dict[str, object] = {
        "path": f"/app/{text}train.py",
        "line": 4,
        "condition": text,
        "source": text,
        "call": False,
        "verified": True,
        "message": text,
        "counts": (
            KindCount(kind=f"Trainer{text}", workers=4, hits=1234, looked=4, failed=2, error=text or "NameError"),
        ),
        "tree": found.tree(workers()),
        "statistics": found.statistics(),
        "looks": found.kept(workers()),
    }
    return LineRecord(**{**values, **more})  # type: ignore[arg-type]


def trace(text: str = "", series: int = 3, points: int = 5) -> TraceRecord:
    made = [
        Series(
            worker=f"w{number}",
            label=f"Trainer{{{number}}}{text}",
            kind="Trainer",
            hits=points,
            points=tuple(
                Point(time=1000.0 + at, count=2, low=0.5, high=1.0 + at, last=0.75, nan=int(number == 1), inf=0)
                for at in range(points)
            ),
            texts=((1001.0, text),),
        )
        for number in range(series)
    ]
    return TraceRecord(
        path="/app/train.py",
        line=5,
        expression=f"loss{text}",
        source=text,
        verified=True,
        message="",
        counts=(KindCount(kind="Trainer", workers=3, hits=15, looked=0, failed=0, error=""),),
        series=tuple(made),
        texts=(TextGroup(text=text or "'warm'", count=1, label="Trainer{0}"),),
        statistics=Statistics(min=0.5, max=5.0, mean=1.0, std=0.1, nan=1, inf=0),
        lowest="Trainer{0}",
        highest="Trainer{2}",
    )


def error(text: str = "") -> ErrorRecord:
    found = looks(f"value{text}")
    return ErrorRecord(
        type=f"ValueError{text}",
        text=f"3 is odd{text}",
        traceback=f"Traceback\n{text}",
        location=CodeLocation(name=f"step{text}", path=f"/app/{text}.py", line=3),
        passed=False,
        count=2,
        label=f"Trainer{{0-1}}{text}",
        first=1001.0,
        tree=found.tree(workers()),
        looks=found.kept(workers()),
    )


def sample(text: str = "") -> SampleRecord:
    place = CodeLocation(name=f"all_reduce{text}", path=f"/app/{text}train.py", line=9)
    root = node(None, 4, f"Trainer{{0-3}}{text}", node(place, 3, f"Trainer{{0-2}}{text}"))
    missing = MissingMembers(frame=place, count=3, of=4, members=(), running=(), label=f"Trainer{{3}}{text}")
    return SampleRecord(
        time=1010.0,
        stacks=MergedStacks(root=root, missing=(missing,), silent=(), unread=("w9",)),
        places=(WorkerPlace(worker="w0", label=f"Trainer{{0}}{text}", text=f"in step{text}", location=place),),
        unread=("w9",),
    )


def worker(key: str = "w0", text: str = "") -> WorkerRecord:
    return WorkerRecord(
        key=key,
        label=f"Trainer{{0}}{text}",
        kind=f"Trainer{text}",
        pid=7,
        node=f"10.0.0.7{text}",
        job="01000000",
        seen=1000.0,
        ended=1050.0,
        problem=text,
        pauses=3,
        paused=0.04,
    )


def full(text: str = "") -> Report:
    return report(
        title=f"train.py{text}",
        cluster=text,
        command=(text,),
        outcome=Outcome(state="ended", code=1, text=f"It failed.{text}"),
        workers=(worker(text=text),),
        errors=(error(text),),
        lines=(line(text), line(text, call=True)),
        traces=(trace(text),),
        samples=(sample(text),),
        timeline=Timeline(
            tasks=(TimelineSpan(worker="w0", name=f"task{text}", start=1001.0, end=1002.0, state=f"FAILED{text}"),),
            pauses=(TimelineSpan(worker=f"w1{text}", name=text, start=1001.0, end=None),),
            more=3,
        ),
        notes=(Note(time=1000.0, text=f"A note.{text}", count=2),),
        output=(f"a line{text}",),
    )


def test_the_page_needs_nothing_but_itself() -> None:
    page = html_page.of_report(full())
    for tag, attributes in Parsed(page).tags:
        assert tag not in ("script", "link", "img", "iframe", "object", "base", "form")
        assert not [name for name in attributes if name.startswith("on")]
        assert (attributes.get("href") or "#").startswith("#")
    assert not re.search(r"url\(|@import|https?://(?!www\.w3\.org)", page)
    assert "prefers-color-scheme: dark" in page


def test_links_lead_somewhere() -> None:
    tags = parsed(full()).tags
    ids = {attributes["id"] for _, attributes in tags if "id" in attributes}
    assert {str(attributes["href"])[1:] for tag, attributes in tags if tag == "a"} <= ids


def test_hostile_texts_stay_texts() -> None:
    page = html_page.of_report(full(HOSTILE))
    found = Parsed(page)
    assert "<script" not in page
    assert "\x00" not in page
    assert "\x1b" not in page
    assert page.encode(errors="replace").decode() != ""
    assert "train.py<script>alert(1)</script>\"'&" in found.text
    plain = [tag for tag, _ in parsed(full("text")).tags]
    assert [tag for tag, _ in found.tags] == plain


def test_what_matters_comes_first() -> None:
    text = parsed(full()).text
    first = text[text.index("Most urgent") : text.index(" Errors ")]
    assert "ValueError (.py:3) in Trainer{0-1}, 2 times" in first
    assert "loss was not finite in Trainer{1}" in first
    assert "train.py:4 : the condition failed 2 times: NameError" in first
    assert "rate is 0.2 in Trainer{3}, and 0.1 in the 3 others" in first
    assert "Trainer{3} is not in all_reduce (train.py:9) , where 3 of 4 are" in first
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
    lonely = line(counts=(), tree=empty, looks=(), verified=False, message="There is no code.")
    assert "There is no code." in parsed(report(lines=(lonely,))).text


@pytest.mark.parametrize(("series", "points"), [(1, 1), (3, 400), (500, 3)])
def test_charts_of_any_size(series: int, points: int) -> None:
    tags = parsed(report(traces=(trace("", series, points),))).tags
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


def test_what_is_no_html_becomes_text() -> None:
    made = element("p", "<b>", element("i", ["a", None, "&"]), class_='x"y', hidden=True, width=0.5, title=None)
    assert made == '<p class="x&quot;y" hidden width="0.5">&lt;b&gt;<i>a&amp;</i></p>'
