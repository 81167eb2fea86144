"""The transcripts of docs/usage/terminal.md: the page's program and the commands in a real terminal, on a Ray cluster.

`make transcripts` rewrites them; a test compares them. A transcript is the block below a comment `<!-- transcript: NAME
-->`. Addresses, process ids and everything else that differs from run to run are replaced by fixed values.
"""

import re
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from local_cluster import Child, Cluster

from support.raydap_command import RAYDAP
from support.terminal import Terminal

PAGE = Path(__file__).parents[2] / "docs" / "usage" / "terminal.md"
PROGRAM = Path(__file__).parents[2] / "docs" / "examples" / "rollouts.py"

COLUMNS = 110
STEPS = 100_000
"""More steps than the program can run during a test."""

AGAIN_S = 60.0
"""The seconds for which a command is repeated until all workers are in the state that the page shows."""

_BLOCK = re.compile(r"(?<=<!-- transcript: )(?P<name>\w+)( -->\n```\n)(?P<text>.*?)(?=```\n)", re.DOTALL)

_PROMPT = r"^\([^()\n]*\)\Z"

_PIDS = {"driver": "17944", "Rollout 0": "18044", "Rollout 1": "18046", "Rollout 2": "18049", "Rollout 3": "18053"}


def on_page() -> dict[str, str]:
    """Return the transcripts that are on the page, by name."""
    return {found["name"]: found["text"] for found in _BLOCK.finditer(PAGE.read_text(encoding="utf-8"))}


def renew(blocks: Mapping[str, str]) -> None:
    """Write the transcripts into the page."""

    def new(found: re.Match[str]) -> str:
        return f"{found['name']}{found[2]}{blocks[found['name']]}"

    PAGE.write_text(_BLOCK.sub(new, PAGE.read_text(encoding="utf-8")), encoding="utf-8")


def make(cluster: Cluster) -> dict[str, str]:
    """Return new transcripts, by name. Raises AssertionError and ChildFailed."""
    # A long path would break lines.
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        return Transcripts(cluster, Path(folder)).make()


class Transcripts:
    """A run of the commands of the page, one after the other.

    `folder` is empty at the start. It is the home folder of the commands.
    """

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self._cluster = cluster
        self._folder = folder
        self._env = {
            "RAY_ADDRESS": cluster.address,
            "RAY_API_SERVER_ADDRESS": cluster.dashboard,
            "HOME": str(folder),
            "XDG_RUNTIME_DIR": str(folder),
            "NO_COLOR": "1",
        }
        (folder / PROGRAM.name).write_text(PROGRAM.read_text(encoding="utf-8"), encoding="utf-8")

    def make(self) -> dict[str, str]:
        """Return all transcripts, by name. Raises AssertionError and ChildFailed."""
        made = dict(self._of_launched_program())
        with Child([*RAYDAP, "run", PROGRAM.name, str(STEPS)], self._folder / "run.log", self._env, self._folder):
            made |= self._of_running_program()
            made |= self._of_joined_program()
        return {name: self._steady(text) for name, text in made.items()}

    def _of_running_program(self) -> Iterator[tuple[str, str]]:
        """Yield the output of the commands that stop no worker."""
        everywhere = r"blocked in time\.sleep \(rollouts\.py:\d+\)"
        driver = r"driver rollouts\.py .* blocked in ray\.get \(rollouts\.py:\d+\)"
        all_four = rf"alive +4 +Rollout\{{0-3\}} · play .* {everywhere}"
        yield "ps", self._run("ps", until=rf"\ASTATE .*\n.*{driver}\n{all_four}\Z")
        yield "compare", self._run("compare", "self.config", "actor:Rollout", until=r"\A.*\n.*\b3  Rollout\{0-1,3\}\Z")

    def _of_joined_program(self) -> Iterator[tuple[str, str]]:
        with self._debug() as user:
            user.types("attach actor:Rollout")
            user.repeats("workers", r"^\w+ .*Rollout.*$", r"^running +4 +Rollout")
            user.types("b rollouts.py:23, self.rank == 2", r"^-> reward = .*$")
            user.types("w", r"^-> reward = .*$")
            user.types("p self.config", r"^\{.*\}$")
            user.types("q", ends=True)
            yield "join", user.seen()

    def _of_launched_program(self) -> Iterator[tuple[str, str]]:
        with self._debug(PROGRAM.name, "10") as user:
            user.hides("barrier 23", r"^Breakpoint \d .*$")
            user.hides("[all] c", r"^-> reward = .*$")
            user.repeats("[all] p 'stopped'", r"^.*Rollout.*$", r"^'stopped'  4  Rollout\{0-3\}")
            user.hides("focus 2", r"^-> reward = .*$")
            # The transcript begins here.
            user.seen()
            user.types("[all] p self.config['rate']", r"^min 0\.25 .*$")
            user.types("[0-1] n", r"^\+ 2 .*$")
            user.types("[all] w", r"Rollout\{2-3\}$")
            user.types("focus 0", r"^-> return .*$")
            yield "many", user.seen()
            user.types("q", ends=True)

    def _debug(self, *arguments: str) -> "User":
        return User(arguments, self._terminal("debug", *arguments))

    def _run(self, *arguments: str, until: str) -> str:
        """Run a command until its output after the first line matches `until`; return the command and its output.

        The first line names the cluster.
        """
        deadline = time.monotonic() + AGAIN_S
        while True:
            with self._terminal(*arguments) as terminal:
                terminal.wait()
                text = terminal.text
            cluster, _, answer = text.partition("\n")
            assert cluster == f"Cluster: {self._cluster.dashboard} (RAY_API_SERVER_ADDRESS)"
            if re.search(until, answer, re.MULTILINE):
                return f"{_shell_line(arguments)}\n{text}"
            assert time.monotonic() < deadline, f"awaited {until!r}:\n{text}"

    def _terminal(self, *arguments: str) -> Terminal:
        return Terminal([*RAYDAP, *arguments], self._env, columns=COLUMNS, lines=60, cwd=self._folder)

    def _steady(self, text: str) -> str:
        """Replace what differs from run to run. Tables get the column widths of the new values."""
        text = "\n".join(_aligned(text.splitlines(), self._cluster.host))
        text = re.sub(r"\bdriver \d+", f"driver {_PIDS['driver']}", text)
        text = re.sub(r"\b\d+ workers (are|keep) running\b", r"5 workers \1 running", text)
        text = re.sub(r"\b0x[0-9a-f]+\b", "0x7f5510afc050", text)
        # Ray prints this before or after the end of the session.
        text = re.sub(r"^Job \S+ \(\w+\) has ended\.\n", "", text, flags=re.MULTILINE)
        text = text.replace(self._cluster.dashboard, "http://10.0.0.7:8265")
        return text.replace(str(self._folder), "/home/me").rstrip() + "\n"


class User:
    """A user who types commands into `raydap debug`."""

    def __init__(self, arguments: Sequence[str], terminal: Terminal) -> None:
        self._terminal = terminal
        self._start = _shell_line(("debug", *arguments))
        self._lines: list[str] = []

    def __enter__(self) -> "User":
        self._terminal.__enter__()
        self._terminal.wait_for(_PROMPT)
        # The lines about the connection differ from run to run.
        text = re.split(r"^(?=> |No worker is stopped)", self._terminal.text, maxsplit=1, flags=re.MULTILINE)[1]
        self._lines = [self._start, *text.splitlines()[:-1]]
        return self

    def __exit__(self, *exc: object) -> None:
        self._terminal.end()

    def types(self, line: str, awaited: str = "", ends: bool = False) -> None:
        """Type a line and wait for the next prompt, or with `ends` for the end of the program.

        `awaited` has to be in the last line that the command prints, because the prompt can come earlier.
        """
        text = self._terminal.text
        self._terminal.line(line)
        # The prompt before the line may have changed since the text was read, which moves everything after it. So
        # search for the typed line.
        after = text.rfind("\n") + 1
        typed = rf"^\([^()\n]*\) {re.escape(line)}(?:\n|\Z)(?s:.*?)"
        self._terminal.wait_for(typed + awaited, after)
        if ends:
            self._terminal.wait()
            self._lines += self._terminal.text.splitlines()[text.count("\n") :]
        else:
            self._terminal.wait_for(typed + _PROMPT, after)
            self._lines += self._terminal.text.splitlines()[text.count("\n") : -1]

    def hides(self, line: str, awaited: str = "") -> str:
        """Type a line and leave it and its output out of the transcript. Return the output."""
        kept, self._lines = self._lines, []
        self.types(line, awaited)
        shown, self._lines = self._lines, kept
        return "\n".join(shown)

    def repeats(self, line: str, awaited: str, until: str) -> None:
        """Type a line without showing it, again and again, until its output matches `until`."""
        deadline = time.monotonic() + AGAIN_S
        while not re.search(until, shown := self.hides(line, awaited), re.MULTILINE):
            assert time.monotonic() < deadline, f"awaited {until!r}:\n{shown}"

    def seen(self) -> str:
        """Return what was recorded since the last call."""
        lines, self._lines = self._lines, []
        return "\n".join(lines) + "\n"


def _shell_line(arguments: Sequence[str]) -> str:
    """Return the command line, with quotes around words that a shell would split or expand."""
    words = [f"'{word}'" if re.search(r"[ :*]", word) else word for word in arguments]
    return f"$ raydap {' '.join(words)}"


def _aligned(lines: Sequence[str], node: str) -> Iterator[str]:
    """Replace the nodes, pids, jobs and times in tables of workers by fixed ones. Yield all other lines unchanged."""
    table: list[list[str]] = []
    starts: list[int] = []
    for line in [*lines, ""]:
        if line.startswith("STATE "):
            starts = [found.start() for found in re.finditer(r"\S+", line)]
        if starts and line and not line.startswith(("(", "$")):
            ends = [*starts[1:], len(line)]
            table.append([line[start:end].strip() for start, end in zip(starts, ends, strict=True)])
            continue
        if table:
            yield from _as_text([table[0], *(_fixed(row, node) for row in table[1:])])
            table, starts = [], []
        yield line


def _fixed(row: Sequence[str], node: str) -> list[str]:
    state, *count, worker, _, where, pid, _, place = row
    name = "driver" if worker.startswith("driver") else worker.partition(" · ")[0]
    # Ray reports only some time after a driver's start which program it runs.
    worker = "driver rollouts.py" if name == "driver" else worker
    # The driver of a launched program has the name of its machine.
    where = "10.0.0.7" if where == node else "head"
    pid = _PIDS[name] if pid else ""
    return [state, *count, worker, "01000000", where, pid, "3 s" if state == "stopped" else "12 s", place]


def _as_text(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def main() -> None:
    with Cluster(num_cpus=8) as cluster:
        renew(make(cluster))


if __name__ == "__main__":
    main()
