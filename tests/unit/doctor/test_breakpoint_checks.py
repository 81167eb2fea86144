"""The reasons why a breakpoint is not hit."""

from dataclasses import replace
from pathlib import Path

import pytest

from raydap.cluster.survey.node_reports import DebugPortPeer, FoundFile
from raydap.core.process_info import RayFacts
from raydap.doctor import breakpoint_checks
from raydap.doctor.facts import Facts, SourceBreakpoint
from raydap.doctor.finding import Finding
from unit.doctor.made_up import HEALTHY, Member, faults, member, with_members

PATH = "/home/me/project/pkg/train.py"

SOURCE = b"""\
def train():
    # A comment.
    values = [
        1,
    ]

    return values
"""

PACKAGE = "/tmp/ray/session_1/runtime_resources/working_dir_files/_ray_pkg_ab12"


def asked(*members: Member, line: int = 3, source: bytes = SOURCE) -> Facts:
    return with_members(*members, breakpoints=(SourceBreakpoint(Path(PATH), line, source),))


def having(key: str, *places: tuple[str, bool], **more: object) -> Member:
    """Return a worker with an agent that has the file at these paths, each with the same text or not."""
    files = {PATH: tuple(FoundFile(path, same) for path, same in places)}
    return member(key, **{"agent": True, "files": files, **more})  # type: ignore[arg-type]


def found(*members: Member, line: int = 3, source: bytes = SOURCE) -> list[Finding]:
    return faults(breakpoint_checks.breakpoints, asked(*members, line=line, source=source))


def test_without_a_breakpoint_nothing_is_reported() -> None:
    assert list(breakpoint_checks.breakpoints(with_members(having("w1")))) == []


def test_a_worker_with_the_file_and_an_agent_stops() -> None:
    assert found(having("w1", (PATH, True))) == []
    (told,) = breakpoint_checks.breakpoints(asked(having("w1", (PATH, True))))
    assert told.what.startswith("train.py:3 stops w1 (pid 1 on 10.0.0.1) at the line, if raydap is attached")


@pytest.mark.parametrize(
    ("line", "severity", "said"),
    [
        (2, "note", "debuggers stop at line 1 instead"),
        (6, "note", "line 4"),
        (99, "warning", "Line 99 of train.py has no"),
    ],
)
def test_a_line_without_code(line: int, severity: str, said: str) -> None:
    (told,) = found(having("w1", (PATH, True)), line=line)
    assert told.severity == severity
    assert said in told.what


def test_code_of_another_language_is_reported_as_unknown() -> None:
    for source in (b"def broken(:\n", b"\0", b"\xff\xfe"):
        (told,) = found(having("w1", (PATH, True)), source=source)
        assert "raydap cannot parse train.py (" in told.what


def test_the_lines_are_those_of_nested_code_too() -> None:
    source = b"class A:\n    def f(self):\n        return [\n            lambda: 1\n        ]\n"
    assert breakpoint_checks.code_lines(source, "x.py") == {1, 2, 3, 4}


def test_without_workers_the_way_is_to_prepare_them() -> None:
    (told,) = found()
    assert (told.severity, told.what_to_do) == ("note", "raydap run train.py")


def test_a_copy_of_the_working_dir_needs_the_folder() -> None:
    """If the job was submitted from the same machine, the user's own path exists there, too."""
    copy = f"{PACKAGE}/pkg/train.py"
    (told,) = found(having("w1", (PATH, True), (copy, True), cwd=PACKAGE), having("w2", (copy, True), cwd=PACKAGE))
    assert told.severity == "warning"
    assert told.what == f"w1 (pid 1 on 10.0.0.1) and w2 (pid 2 on 10.0.0.1) run a copy, {copy}."
    assert told.what_to_do == '"workspaceFolder": "/home/me/project"'
    (told,) = found(having("w1", (copy, False), cwd=PACKAGE))
    assert "The copy differs from your file" in told.why


def test_another_folder_needs_a_mapping() -> None:
    (told,) = found(having("w1", ("/srv/app/pkg/train.py", True)))
    assert told.what_to_do == '"pathMappings": [{"localRoot": "/home/me/project", "remoteRoot": "/srv/app"}]'


def test_an_installed_copy_needs_just_my_code_off() -> None:
    installed = "/venv/lib/python3.12/site-packages/pkg/train.py"
    (told,) = found(having("w1", (PATH, True), (installed, True)))
    assert told.what_to_do == (
        '"pathMappings": [{"localRoot": "/home/me/project", '
        '"remoteRoot": "/venv/lib/python3.12/site-packages"}], "justMyCode": false'
    )


def test_the_same_path_with_another_text_shifts_the_lines() -> None:
    (told,) = found(having("w1", (PATH, False)))
    assert "differs from the file on this machine" in told.what


def test_a_file_that_no_worker_has() -> None:
    (told,) = found(having("w1"), member("w2"))
    assert told.severity == "warning"
    assert told.what.startswith(f"None of 2 processes has train.py at {PATH}")
    assert told.what_to_do.startswith('"pathMappings": [{"localRoot": "/home/me/project/pkg"')


def test_workers_without_debugger_and_agent_do_not_stop() -> None:
    bare = having("w1", (PATH, True), agent=False, gdb_obstacle="gdb is not installed")
    (told,) = found(bare)
    assert told.severity == "warning"
    assert told.what == "train.py:3 does not stop w1 (pid 1 on 10.0.0.1): it has neither a debugger nor an agent."
    assert "gdb is not installed" in told.why
    waiting = having("w2", (PATH, True), agent=False, port=5, paused=1)
    attached = having("w3", (PATH, True), agent=False, port=5, peers=(DebugPortPeer("10.0.0.1"),))
    let_go = having("w4", (PATH, True), agent=False, port=5)
    (told,) = found(bare, waiting, attached, let_go)
    assert "does not stop w1 (pid 1 on 10.0.0.1) and w4 (pid 4 on 10.0.0.1): they have" in told.what
    assert told.what_to_do == "raydap run train.py"


@pytest.mark.parametrize(
    ("submission", "command"),
    [("", "raydap run main.py"), ("raysubmit_1", "ray job submit --working-dir . -- python -m raydap run main.py")],
)
def test_the_program_is_that_of_the_driver(submission: str, command: str) -> None:
    label = RayFacts(job="01", submission=submission)
    script = "/home/me/project/main.py"
    (told,) = found(having("w1", (PATH, True), agent=False, worker_type="DRIVER", script=script, label=label))
    assert told.what_to_do == command


def test_only_jobs_that_have_the_file_are_looked_at() -> None:
    """The path exists for every worker of the machine."""
    driver = having(
        "w1", (PATH, True), worker_type="DRIVER", script="/home/me/project/main.py", label=RayFacts(job="01")
    )
    other = having("w2", (PATH, True), agent=False, label=RayFacts(job="02"))
    assert found(driver, other) == []
    # Without a driver that has the script, the file may belong to any job.
    assert len(found(other)) == 1


def test_what_a_session_has_set_is_in_order() -> None:
    one = SourceBreakpoint(Path(PATH), 3, SOURCE, True, "Set in 3 of 3 workers.")
    (told,) = breakpoint_checks.breakpoints(replace(HEALTHY, breakpoints=(one,)))
    assert (told.severity, told.what) == ("ok", "train.py:3 is set. Set in 3 of 3 workers.")


def test_what_a_session_could_not_set_is_looked_at() -> None:
    one = SourceBreakpoint(Path(PATH), 3, SOURCE, False, "No worker has it.")
    first, second = faults(breakpoint_checks.breakpoints, with_members(having("w1"), breakpoints=(one,)))
    assert first.what == "train.py:3 is not set in every worker: No worker has it."
    assert second.what.startswith("None of 1 process has train.py")
    # The file of an editor on another machine does not exist here.
    elsewhere = replace(one, source=None)
    assert len(faults(breakpoint_checks.breakpoints, with_members(having("w1"), breakpoints=(elsewhere,)))) == 1


def test_each_breakpoint_is_looked_at() -> None:
    two = tuple(SourceBreakpoint(Path(f"/home/me/{name}.py"), 1, b"x = 1\n") for name in ("a", "b"))
    told = faults(breakpoint_checks.breakpoints, replace(HEALTHY, breakpoints=two))
    assert [one.subject for one in told] == ["a.py:1", "b.py:1"]
