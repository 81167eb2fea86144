"""The launched program as a child process: its output, its end, and that no other process is ended."""

import asyncio
import os
import select
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from raydap.core.events import DebuggeeExited, DebuggeeFailed, DebuggeeOutput, DebuggeeStarted, Event
from raydap.core.settings import LaunchSettings
from raydap.errors import Code
from raydap.runtime import debuggee_process
from raydap.runtime.debuggee_process import DebuggeeProcess
from raydap.runtime.program_command import _missing, command, environment

WAIT = 20.0


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(debuggee_process, "TERMINATE_TIMEOUT_S", WAIT)


class Run:
    """A DebuggeeProcess and its events."""

    def __init__(self, settings: LaunchSettings, environ: Mapping[str, str] | None = None) -> None:
        self.events: list[Event] = []
        self._news = asyncio.Event()
        self.child = DebuggeeProcess(settings, self._emit, {**os.environ, **(environ or {})})

    def _emit(self, event: Event) -> None:
        self.events.append(event)
        self._news.set()

    def text(self, category: str) -> str:
        return "".join(e.text for e in self.events if isinstance(e, DebuggeeOutput) and e.category == category)

    async def until(self, *, output: str | None = None) -> None:
        """Wait for this output, or for the end."""

        async def watch() -> None:
            while not (output in self.text("stdout") if output else isinstance(self.events[-1], DebuggeeExited)):
                self._news.clear()
                await self._news.wait()

        await asyncio.wait_for(watch(), WAIT)


def program(tmp_path: Path, source: str, **settings: Any) -> LaunchSettings:
    path = tmp_path / "program.py"
    path.write_text(source, encoding="utf-8")
    return LaunchSettings(program=str(path), **settings)


def finish(settings: LaunchSettings, **environ: str) -> Run:
    async def main() -> Run:
        run = Run(settings, environ)
        await run.child.start()
        await run.until()
        await run.child.stop()
        return run

    return asyncio.run(main())


def test_the_variables_of_a_file_and_the_interpreters_options(tmp_path: Path) -> None:
    (tmp_path / "job.env").write_text("A=file\nB=file\n", encoding="utf-8")
    source = "import os, sys\nprint(os.environ['A'], os.environ['B'], sys.flags.dev_mode)"
    settings = {"cwd": str(tmp_path), "env_file": "job.env", "env": {"B": "env"}, "python_args": ("-X", "dev")}
    assert finish(program(tmp_path, source, **settings)).text("stdout") == "file env True\n"


def test_a_missing_file_with_variables_is_named(tmp_path: Path) -> None:
    async def main() -> Run:
        run = Run(program(tmp_path, "", env_file=str(tmp_path / "none.env")))
        await run.child.start()
        return run

    (failed,) = asyncio.run(main()).events
    assert isinstance(failed, DebuggeeFailed)
    assert failed.problem.code is Code.LAUNCH_FAILED
    assert f'the file "{tmp_path}/none.env" (envFile) cannot be read (it does not exist)' in failed.problem.text


def test_start_output_and_exit_code_come_in_order(tmp_path: Path) -> None:
    source = "import sys\nprint('out', *sys.argv[1:])\nprint('err', file=sys.stderr)\nsys.exit(7)"
    run = finish(program(tmp_path, source, args=("a b", "--c")))
    first = run.events[0]
    assert isinstance(first, DebuggeeStarted)
    assert first.name == "program.py"
    assert first.pid > 0
    assert run.text("stdout") == "out a b --c\n"
    assert run.text("stderr") == "err\n"
    assert run.events[-1] == DebuggeeExited(7)
    assert run.events.count(DebuggeeExited(7)) == 1


def test_all_output_comes_before_the_exit(tmp_path: Path) -> None:
    run = finish(program(tmp_path, "for i in range(20000): print(i)"))
    assert run.text("stdout").split() == [str(i) for i in range(20000)]
    assert run.events[-1] == DebuggeeExited(0)


def test_characters_survive_being_cut_and_bad_bytes_are_shown(tmp_path: Path) -> None:
    source = "import os\nfor byte in 'ä€😀'.encode(): os.write(1, bytes([byte]))\nos.write(1, b'\\xff|\\xe2')"
    assert finish(program(tmp_path, source)).text("stdout") == "ä€😀\ufffd|\ufffd"


def test_a_module_runs_in_its_folder_without_input(tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text("import os, sys\nprint(os.getcwd(), repr(sys.stdin.read()))")
    run = finish(LaunchSettings(module="job", cwd=str(tmp_path)))
    assert run.text("stdout") == f"{tmp_path} ''\n"


def test_the_environment_is_added_to_and_taken_from() -> None:
    settings = LaunchSettings(program="x", env={"ADDED": "1", "REMOVED": None})
    child = environment(settings, {"REMOVED": "x", "KEPT": "y", "RAY_DEBUG": ""})
    assert child == {"ADDED": "1", "KEPT": "y", "PYTHONUNBUFFERED": "1"}


def test_a_ray_debug_that_says_something_is_kept() -> None:
    assert environment(LaunchSettings(program="x"), {"RAY_DEBUG": "legacy"})["RAY_DEBUG"] == "legacy"


def test_the_given_interpreter_runs_it() -> None:
    assert command(LaunchSettings(program="x.py", python="/opt/python")) == ["/opt/python", "-u", "x.py"]
    assert command(LaunchSettings(module="x")) == [sys.executable, "-u", "-m", "x"]


@pytest.mark.parametrize(
    ("own", "inherited", "off"),
    [
        ({}, {}, False),
        ({"RAYDAP": "off"}, {}, True),
        ({}, {"RAYDAP": "off"}, True),
        ({"RAYDAP": None}, {"RAYDAP": "off"}, False),
    ],
)
def test_a_program_whose_environment_forbids_agents_says_so(
    tmp_path: Path, own: dict[str, str | None], inherited: dict[str, str], off: bool
) -> None:
    started = finish(program(tmp_path, "", env=own), **inherited).events[0]
    assert isinstance(started, DebuggeeStarted)
    assert started.off == off


def test_a_path_that_the_locale_has_no_bytes_for_is_not_called_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    def fsencode(path: str) -> bytes:
        return path.encode("ascii")

    monkeypatch.setattr(os, "fsencode", fsencode)
    reason = _missing(LaunchSettings(program="pr\u00f6gram.py"))
    assert 'cannot represent "pr\u00f6gram.py"; start raydap with PYTHONUTF8=1' in reason


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        (LaunchSettings(program="missing.py"), "missing.py"),
        (LaunchSettings(module="x", cwd="missing"), "missing"),
        (LaunchSettings(module="x", python="missing-python"), "missing-python"),
        (LaunchSettings(module="x", env={"A\0": "b"}), "cannot be run"),
    ],
)
def test_a_program_that_cannot_start_is_reported_once_by_name(settings: LaunchSettings, named: str) -> None:
    async def main() -> list[Event]:
        run = Run(settings)
        await run.child.start()
        await run.child.stop()
        return run.events

    (event,) = asyncio.run(main())
    assert isinstance(event, DebuggeeFailed)
    assert event.problem.code is Code.LAUNCH_FAILED
    assert named in event.problem.text


def test_stop_ends_the_program_and_its_children(tmp_path: Path) -> None:
    source = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; print('up', flush=True); time.sleep(600)"])
# In one piece: print() writes each word for itself, and the child may write in between.
sys.stdout.write(f"child {child.pid}\\n")
time.sleep(600)
"""

    async def main() -> Run:
        run = Run(program(tmp_path, source))
        await run.child.start()
        await run.until(output="child ")
        await run.until(output="up\n")
        await run.child.stop()
        return run

    run = asyncio.run(main())
    assert run.events[-1] == DebuggeeExited(128 + signal.SIGTERM)
    words = run.text("stdout").split()
    pid = int(words[words.index("child") + 1])
    assert _ends(pid)


def test_what_ignores_sigterm_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(debuggee_process, "TERMINATE_TIMEOUT_S", 0.05)
    source = "import signal, time\nsignal.signal(15, signal.SIG_IGN)\nprint('up')\ntime.sleep(600)"

    async def main() -> Run:
        run = Run(program(tmp_path, source))
        await run.child.start()
        await run.until(output="up\n")
        await run.child.stop()
        return run

    assert asyncio.run(main()).events[-1] == DebuggeeExited(128 + signal.SIGKILL)


def test_stop_while_it_starts_leaves_nothing_behind(tmp_path: Path) -> None:
    async def main() -> Run:
        run = Run(program(tmp_path, "import time; time.sleep(600)"))
        starting = asyncio.create_task(run.child.start())
        await run.child.stop()
        await starting
        return run

    run = asyncio.run(main())
    assert isinstance(run.events[0], DebuggeeStarted)
    assert run.events[-1] == DebuggeeExited(128 + signal.SIGTERM)


def test_a_process_left_behind_does_not_hold_the_exit_back(tmp_path: Path) -> None:
    """The child's own child keeps the output open. The test ends it."""
    source = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
print(child.pid)
"""
    run = finish(program(tmp_path, source))
    os.kill(int(run.text("stdout")), signal.SIGKILL)
    assert run.events[-1] == DebuggeeExited(0)


def _ends(pid: int) -> bool:
    """Wait for the end of a process that is not a child of this one."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], WAIT)[0])
    finally:
        os.close(descriptor)
