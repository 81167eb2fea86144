"""`raydap report` on a real cluster: what it shows, what it leaves behind, and that it does not affect the job."""

import json
import os
import select
import signal
import sys
import time
import urllib.request
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import msgspec
import pytest
from local_cluster import Child, Cluster
from msgspec import UNSET

from raydap.report.records import LineRecord, Report
from support.launched import line_of

PROGRAM = """\
import os
import sys
import time
import ray

FOLDER = os.path.dirname(os.path.abspath(__file__))

@ray.remote(num_cpus=0.1)
class Trainer:
    def __init__(self, rank, rate):
        self.rank, self.rate = rank, rate

    def train(self, steps):
        for step in range(steps):
            loss = self.rank + step / 10
            done = step  # in the loop
        score = float("nan") if self.rank == 2 else self.rank * 1.5
        print(score)  # at its end
        return self.wait()

    def wait(self):
        while not os.path.exists(FOLDER + "/go"):
            time.sleep(0.01)
        return self.look_up({"steps": 12})

    def look_up(self, table):
        return table["missing"] if self.rank == 1 else table["steps"]

if __name__ == "__main__":
    ray.init()
    trainers = [Trainer.remote(rank, 0.2 if rank == 3 else 0.1) for rank in range(4)]
    print(f"arguments {sys.argv[1:]}", flush=True)
    print(ray.get([trainer.train.remote(12) for trainer in trainers]))
"""

LOOP = """\
import os
import time
import ray

FOLDER = os.path.dirname(os.path.abspath(__file__))

@ray.remote(num_cpus=0.1)
class Loop:
    def run(self):
        turns = 0
        while not os.path.exists(FOLDER + "/go"):
            turns += 1
            time.sleep(0.01)  # in a turn
        if os.path.exists(FOLDER + "/fail"):
            raise ValueError("wanted")
        return turns >= 0

ray.init()
print(f"joined {ray.get_runtime_context().get_job_id()}", flush=True)
loops = [Loop.remote() for _ in range(2)]
calls = [each.run.remote() for each in loops]
try:
    print(f"result: {ray.get(calls)}", flush=True)
except ray.exceptions.RayTaskError as error:
    print(f"error: {type(error.cause).__name__}", flush=True)
open(FOLDER + "/done", "w").close()
"""


class Reporting:
    """A `raydap report` in its own folder, with the program `program.py`."""

    def __init__(self, cluster: Cluster, folder: Path, children: ExitStack) -> None:
        self.folder = folder
        self._cluster = cluster
        self._children = children
        children.callback(self.go)

    def start(self, *options: str) -> Child:
        files = ["--out", "report.html", "--json", "report.json", "--trace", "report.trace"]
        command = [sys.executable, "-m", "raydap", "report", *files, *options]
        return self._run(command, "report.log")

    def run_prepared(self) -> Child:
        return self._run([sys.executable, "-m", "raydap", "run", "program.py"], "program.log")

    def _run(self, command: list[str], log: str) -> Child:
        env = {"RAY_ADDRESS": self._cluster.address}
        return self._children.enter_context(Child(command, self.folder / log, env, self.folder))

    def write(self, source: str) -> None:
        (self.folder / "program.py").write_text(source)

    def go(self) -> None:
        (self.folder / "go").touch()

    @property
    def report(self) -> Report:
        """Return the content of the JSON file, which has to be valid. Check that the page exists, too."""
        assert "</html>" in (self.folder / "report.html").read_text()
        return msgspec.json.decode((self.folder / "report.json").read_bytes(), type=Report)

    def wait_report(self, is_so: Callable[[Report], bool]) -> Report:
        """Wait until the report, which is written repeatedly, meets this condition."""
        deadline = time.monotonic() + 60
        while True:
            if (self.folder / "report.json").exists() and is_so(found := self.report):
                return found
            assert time.monotonic() < deadline, "the report does not show it in time"
            time.sleep(0.05)


@pytest.fixture
def reporting(cluster: Cluster, tmp_path: Path, children: ExitStack) -> Reporting:
    return Reporting(cluster, tmp_path, children)


@pytest.mark.core
def test_a_program_from_its_beginning_to_its_end(reporting: Reporting) -> None:
    reporting.write(PROGRAM)
    stop, trace = line_of(PROGRAM, "# in the loop"), line_of(PROGRAM, "# at its end")
    options = ["--break-at", f"program.py:{stop} if step % 3 == 1", "--trace-at", f"program.py:{trace}", "score"]
    run = reporting.start(*options, "--on-error", "--every", "1s", "program.py", "--lr", "0.1", "--out", "its own")
    run.wait_for(r"stacks of Trainer\{0-3\}")
    reporting.go()
    assert run.wait() == 1, run.output
    found = reporting.report

    assert "arguments ['--lr', '0.1', '--out', 'its own']" in run.output
    assert (found.outcome.state, found.outcome.code) == ("ended", 1)
    assert any("KeyError: 'missing'" in line for line in found.output)

    (line,) = found.lines
    assert line.verified
    (count,) = line.counts
    assert (count.kind, count.workers, count.hits, count.looked, count.failed) == ("Trainer", 4, 16, 16, 0)
    assert innermost(line)["step"] == [("10", "Trainer{0-3}")]
    assert {value for value, _ in innermost(line)["loss"]} == {"1.0", "2.0", "3.0", "4.0"}
    assert all(look.paused > 0 and not look.problem for look in line.looks)

    (values,) = found.traces
    assert values.statistics is not UNSET
    assert (values.statistics.min, values.statistics.max, values.statistics.nan) == (0.0, 4.5, 1)
    assert sorted(len(series.points) for series in values.series) == [1, 1, 1, 1]

    first, *passed = found.errors
    assert (first.type, first.count, first.passed) == ("KeyError", 1, False)
    assert first.location is not None
    assert first.location.name == "look_up"
    (look,) = first.looks
    assert [(each.name, each.value) for each in look.frames[-1].variables][1:] == [("table", "{'steps': 12}")]
    assert all(error.passed and error.label == "driver program.py" for error in passed)

    assert any(sample.stacks.root.label.startswith("Trainer{0-3}") for sample in found.samples)
    assert "Trainer.train" in {span.name for span in found.timeline.tasks}
    keys = {worker.key for worker in found.workers}
    assert {span.worker for span in (*found.timeline.tasks, *found.timeline.pauses)} <= keys
    events = json.loads((reporting.folder / "report.trace").read_text())
    paused = {event["args"]["worker_id"] for event in events if event.get("cat") == "raydap:paused"}
    names = {event["args"]["name"].partition(":")[2] for event in events if event["name"] == "thread_name"}
    assert paused <= names
    assert any(event.get("cat") == "task:execute" for event in events)


def innermost(line: LineRecord) -> dict[str, list[tuple[str, str]]]:
    """Return the values of each variable, and the workers that have them."""
    node = line.tree
    while node.children:
        (node,) = node.children
    assert isinstance(node.locals, tuple)
    return {each.name: [(group.value, group.label) for group in each.groups] for each in node.locals}


def test_problems_with_lines_are_reported(reporting: Reporting) -> None:
    reporting.write(PROGRAM.replace("range(4)", "range(2)"))
    reporting.go()
    line = line_of(PROGRAM, "# in the loop")
    never = line_of(PROGRAM, "# at its end")
    options = ["--break-at", f"program.py:{line} if stepp > 1", "--trace-at", f"program.py:{never}", "scor"]
    run = reporting.start(*options, "--quiet", "program.py")
    assert run.wait() == 1, run.output
    found = reporting.report
    assert "raydap report" not in run.output
    (stops,), (values,) = found.lines, found.traces
    assert stops.counts[0].error == "NameError: name 'stepp' is not defined"
    assert (stops.counts[0].hits, stops.looks, stops.counts[0].failed > 0) == (0, (), True)
    assert values.counts[0].error == "NameError: name 'scor' is not defined"
    assert "the condition failed" in (reporting.folder / "report.html").read_text()


def test_a_job_that_runs_is_left_as_it_was(reporting: Reporting) -> None:
    """This holds even if the report is ended by SIGTERM, as by a time limit of Slurm."""
    reporting.write(LOOP)
    program = reporting.run_prepared()
    job = program.wait_for(r"joined (\w+)")[1]
    line = line_of(LOOP, "# in a turn")
    run = reporting.start("--break-at", f"program.py:{line} if turns > 3", "--every", "500ms", job)
    run.wait_for(r"stacks of Loop\{0-1\}")
    reporting.wait_report(lambda found: any(count.workers == 2 for each in found.lines for count in each.counts))
    os.kill(run.pid, signal.SIGTERM)
    assert run.wait() == 128 + signal.SIGTERM, run.output
    found = reporting.report
    assert (found.outcome.state, found.outcome.text) == (
        "interrupted",
        "Interrupted by SIGTERM. The job keeps running.",
    )
    (count,) = found.lines[0].counts
    assert count.workers == 2
    # There were hundreds of hits, but only a few stops.
    assert count.looked <= 2 * 20
    assert program.process.poll() is None
    reporting.go()
    assert program.wait() == 0, program.output
    assert "result: [True, True]" in program.output


def test_the_time_is_over_before_the_program_is(reporting: Reporting) -> None:
    reporting.write(LOOP)
    line = line_of(LOOP, "# in a turn")
    run = reporting.start("--break-at", f"program.py:{line}", "--limit", "5s", "program.py")
    run.wait_for("Time limit reached. raydap removes its breakpoints; the program keeps running")
    found = reporting.wait_report(lambda found: found.outcome.text.startswith("Time limit reached."))
    assert (found.outcome.state, found.outcome.code) == ("running", None)
    reporting.go()
    assert run.wait() == 0, run.output
    assert (reporting.report.outcome.state, reporting.report.outcome.code) == ("ended", 0)
    assert "result: [True, True]" in run.output


def test_sigterm_ends_a_launched_program_too(reporting: Reporting) -> None:
    reporting.write(LOOP.replace("turns = 0", "turns = 0; print('begun', flush=True)"))
    run = reporting.start("program.py")
    run.wait_for("begun")
    os.kill(run.pid, signal.SIGTERM)
    assert run.wait() == 128 + signal.SIGTERM, run.output
    found = reporting.report
    assert found.outcome.text == "Interrupted by SIGTERM. The program was ended."
    # Ray ends a driver in its own way: its handler of SIGTERM may abort.
    assert found.outcome.code in (1, 128 + signal.SIGTERM, 128 + signal.SIGABRT)
    assert any(line.startswith("joined") for line in found.output)
    assert not (reporting.folder / "done").exists()


@pytest.mark.core
def test_raydap_is_killed(reporting: Reporting) -> None:
    """The written report stays, and a task that fails later does not wait for a debugger."""
    reporting.write(LOOP)
    line = line_of(LOOP, "# in a turn")
    run = reporting.start("--break-at", f"program.py:{line}", "--on-error", "program.py")
    # Ray's list may contain the workers before their driver.
    reporting.wait_report(
        lambda found: (
            any(count.workers == 2 for each in found.lines for count in each.counts)
            and any(worker.kind == "driver" for worker in found.workers)
        )
    )
    driver = next(worker.pid for worker in reporting.report.workers if worker.kind == "driver")
    program = os.pidfd_open(driver)
    run.process.kill()
    run.process.wait()
    (reporting.folder / "fail").touch()
    reporting.go()
    try:
        assert select.select([program], [], [], 60)[0], "the program hangs"
    finally:
        os.close(program)
    assert (reporting.folder / "done").exists(), "the program has failed"
    assert reporting.report.outcome.state == "running"


def test_a_job_that_fails(reporting: Reporting, cluster: Cluster) -> None:
    reporting.write(LOOP.replace("except ray.exceptions.RayTaskError as error", "except ZeroDivisionError as error"))
    folder = reporting.folder
    (folder / "fail").touch()
    entrypoint = f"cd {folder} && {sys.executable} program.py"
    body = json.dumps({"entrypoint": entrypoint}).encode()
    request = urllib.request.Request(f"{cluster.dashboard}/api/jobs/", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        job = json.load(answer)["submission_id"]
    run = reporting.start("--job", job)
    run.wait_for("Watching job")
    reporting.go()
    assert run.wait() == 1, run.output
    found = reporting.report
    assert found.outcome.text == f"Job {job} has failed."
    assert any("ValueError: wanted" in line for line in found.output)


def test_a_job_that_does_not_run(reporting: Reporting) -> None:
    run = reporting.start("fe000000")
    assert run.wait() == 1
    assert 'There is no file and no job "fe000000" (' in run.output
    assert not (reporting.folder / "report.html").exists()
