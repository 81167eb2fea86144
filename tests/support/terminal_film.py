"""The recording of a terminal on the first page of the manual: docs/usage/images/debug.svg.

A user types commands of `raydap debug` into a real shell in a real terminal, on a Ray cluster. `make transcripts`
renews the picture. Its pauses are as long as a reader needs; the time that the commands took is left out.
"""

import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape, unescape
from pathlib import Path
from typing import NamedTuple

from local_cluster import Cluster

from support.terminal import Run, Terminal

ROOT = Path(__file__).parents[2]
PICTURE = ROOT / "docs" / "usage" / "images" / "debug.svg"
PROGRAM = ROOT / "docs" / "examples" / "rollouts.py"

COLUMNS, LINES = 84, 24

KEY_MS, READ_MS, END_MS = 30, 1500, 3500
"""The milliseconds for which the picture shows a typed key, the output of a command, and the end."""

PROMPT = r"^(\([^()\n]*\)|\$)\Z"

COMMANDS: Sequence[tuple[str, str]] = (
    ("raydap debug rollouts.py 10", r"^-> "),
    ("barrier 23", r"^Breakpoint \d"),
    ("c", r"^-> reward = "),
    ("[all] p self.config['rate']", r"^min 0\.25 "),
    ("[0-1] n", r"^\+ 2 "),
    ("[all] w", r"Rollout\{2-3\}$"),
)
"""The lines that the user types, and what appears before the next prompt."""

Row = tuple[Run, ...]


class Frame(NamedTuple):
    """The screen, and the time for which the picture shows it."""

    time: int
    """The time in the picture, in milliseconds."""
    rows: tuple[Row, ...]
    """The rows of the screen."""


@dataclass
class Interval:
    """A row of the screen while it stays the same."""

    line: int
    """The number of the row, from 0."""
    row: Row
    """What it shows."""
    start: int
    """The millisecond of the picture at which it appears."""
    end: int
    """The millisecond of the picture at which it changes."""


def record(cluster: Cluster) -> list[Frame]:
    """Return the frames of a new recording. Raises AssertionError if a command prints something else."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        folder = Path(name)
        (folder / PROGRAM.name).write_text(PROGRAM.read_text(encoding="utf-8"), encoding="utf-8")
        env = {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PS1": "$ ", "HOME": name, "XDG_RUNTIME_DIR": name,
            "RAY_ADDRESS": cluster.address, "RAY_API_SERVER_ADDRESS": cluster.dashboard,
        }  # fmt: skip
        frames: list[Frame] = []
        with Terminal(["/bin/sh"], env, columns=COLUMNS, lines=LINES, cwd=folder) as terminal:
            terminal.wait_for(PROMPT)
            for line, awaited in COMMANDS:
                frames += _typed(terminal, line, awaited)
    masks = {name: "/home/me", cluster.dashboard: "http://127.0.0.1:8265"}
    frames[-1] = Frame(END_MS, frames[-1].rows)
    return [Frame(time, tuple(_masked(row, masks) for row in rows)) for time, rows in frames]


def _masked(row: Row, masks: Mapping[str, str]) -> Row:
    """Replace what differs from run to run."""
    for text, instead in masks.items():
        row = tuple(run._replace(text=run.text.replace(text, instead)) for run in row)
    return row


def _typed(terminal: Terminal, line: str, awaited: str) -> Iterator[Frame]:
    """Type a line, and yield the screen after each key and after the command."""
    before = len(terminal.text)
    for end in range(1, len(line) + 1):
        terminal.send(line[end - 1])
        terminal.wait_for(rf"^(?:\([^()\n]*\)|\$) {re.escape(line[:end].rstrip())}\Z")
        yield Frame(KEY_MS, terminal.rows())
    terminal.send("\r")
    terminal.wait_for(awaited, before)
    terminal.wait_for(PROMPT, before)
    yield Frame(READ_MS, terminal.rows())


def intervals(frames: Sequence[Frame]) -> list[Interval]:
    """Return each row of each frame, with its equal successors as one interval. Empty rows are left out."""
    found: list[Interval] = []
    open_: dict[int, Interval] = {}
    now = 0
    for time, rows in frames:
        for line, row in enumerate(rows):
            if line in open_ and open_[line].row == row:
                open_[line].end = now + time
                continue
            open_[line] = Interval(line, row, now, now + time)
            found.append(open_[line])
        now += time
    return [each for each in found if each.row]


CELL, HEIGHT, MARGIN = 8.4, 18, 14
"""The width of a character, the height of a line, and the border around the text."""

COLOURS: Mapping[str, str] = {
    "default": "#d6deeb", "black": "#5f7387", "red": "#ff6b68", "green": "#7fd88f", "brown": "#e9c46a",
    "blue": "#6cb6ff", "magenta": "#d2a8ff", "cyan": "#56d4dd", "white": "#f0f4f8",
    # The colours in which a typed line is highlighted would be too dark.
    "008700": "#7fd88f", "626262": "#9fb3c8", "af0000": "#e9c46a",
}  # fmt: skip


def picture(frames: Sequence[Frame]) -> str:
    """Return an SVG that plays the frames again and again, and for users who want no motion shows the last one."""
    shown = intervals(frames)
    total = sum(frame.time for frame in frames)
    width, height = round(COLUMNS * CELL + 2 * MARGIN), LINES * HEIGHT + 2 * MARGIN
    rules, groups = [], []
    for number, each in enumerate(shown):
        text = "".join(_texts(each))
        if each.start == 0 and each.end >= total:
            groups.append(f"<g>{text}</g>")
            continue
        steps = [(each.start, "visible"), *([(each.end, "hidden")] if each.end < total else [])]
        steps = steps if each.start == 0 else [(0, "hidden"), *steps]
        stops = "".join(f"{100 * at / total:.3f}%{{visibility:{state}}}" for at, state in steps)
        rules.append(f"@keyframes k{number}{{{stops}}}")
        kind = "" if each.end >= total else ' class="past"'
        groups.append(f'<g{kind} style="animation-name:k{number}">{text}</g>')
    style = (
        f"g{{animation:{total}ms step-end infinite}}text{{white-space:pre}}"
        "@media(prefers-reduced-motion:reduce){g{animation:none!important}.past{visibility:hidden}}" + "".join(rules)
    )
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"',
        ' font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,DejaVu Sans Mono,monospace" font-size="14">\n',
        "<title>raydap debug in a terminal</title>\n",
        f'<style>{style}</style>\n<rect width="{width}" height="{height}" rx="8" fill="#0f2437"/>\n',
        *(f"{group}\n" for group in groups),
        "</svg>\n",
    ]
    return "".join(lines)


def _texts(each: Interval) -> Iterator[str]:
    """Yield the runs of a row as elements. Their widths do not depend on the reader's font."""
    column = 0
    for run in each.row:
        if run.text.strip():
            x, y = MARGIN + column * CELL, MARGIN + each.line * HEIGHT + 13
            weight = ' font-weight="bold"' if run.is_bold else ""
            colour = COLOURS.get(run.colour.removeprefix("bright"), f"#{run.colour}")
            yield (
                f'<text x="{x:.1f}" y="{y}" textLength="{len(run.text) * CELL:.1f}" fill="{colour}"{weight}>'
                f"{escape(run.text, quote=False)}</text>"
            )
        column += len(run.text)


_UNSTEADY = re.compile(r"Connected|is paused|and its workers|^Barrier|\(running\)")


def lines(svg: str) -> set[str]:
    """Return the texts of the rows of a picture, but not what depends on the machine, or on which actor came first."""
    rows = re.findall(r"<g.*?</g>", svg)
    texts = {"".join(unescape(text) for text in re.findall(r"<text[^>]*>(.*?)</text>", row)) for row in rows}
    return {re.sub(r"Rollout \d(?=\)| rollouts)", "Rollout N", text) for text in texts if not _UNSTEADY.search(text)}


def main() -> None:
    with Cluster(num_cpus=8) as cluster:
        PICTURE.write_text(picture(record(cluster)), encoding="utf-8")


if __name__ == "__main__":
    main()
