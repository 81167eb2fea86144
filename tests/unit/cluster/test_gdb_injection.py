"""gdb in a process that is not prepared for it: its effects there, and the reasons why it can fail."""

import json
import os
import platform
import shutil
import signal
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack, nullcontext
from pathlib import Path

import pytest
from local_cluster import Child

from raydap.cluster.injection import gdb_injection, injection_script
from raydap.cluster.injection.gdb_injection import InjectionFailed, obstacle, run_in_process
from support.gdb import need_gdb

# One thread waits in epoll_wait, as some of Ray's threads do.
PROGRAM = """
import os, select, sys, threading, time
threading.Thread(target=select.epoll().poll, daemon=True).start()
count = 0
print("begun", flush=True)
ending = False
while not ending:
    ending = os.path.exists(sys.argv[1] + "/end")
    {turn}
print("turns:", count > 0, flush=True)
"""

# PyDLL keeps the GIL during the call.
TURNS = {
    "computes": "count += 1",
    "sleeps": "count += 1; time.sleep(0.01)",
    "keeps the lock": "count += 1; __import__('ctypes').PyDLL(None).usleep(400_000)",
}

Start = Callable[[str], Child]


@pytest.fixture
def gdb() -> None:
    need_gdb()


@pytest.fixture
def start(tmp_path: Path, children: ExitStack) -> Start:
    def begin(turn: str) -> Child:
        program = tmp_path / "program.py"
        program.write_text(PROGRAM.format(turn=TURNS[turn]))
        child = children.enter_context(Child([sys.executable, str(program), str(tmp_path)], tmp_path / "log"))
        child.wait_for("begun")
        return child

    return begin


def inject(child: Child, folder: Path) -> None:
    source = f"import os\nos.rename({str(folder / 'asked')!r}, {str(folder / 'ran')!r})\n"
    (folder / "asked").touch()
    run_in_process(child.pid, "", source, "here")


def ends_well(child: Child, folder: Path) -> None:
    (folder / "end").touch()
    assert child.wait() == 0
    assert "turns: True" in child.output


@pytest.mark.slow
@pytest.mark.usefixtures("gdb")
@pytest.mark.parametrize("turn", TURNS)
def test_code_runs_in_the_process_and_the_process_continues(start: Start, tmp_path: Path, turn: str) -> None:
    child = start(turn)
    inject(child, tmp_path)
    while not (tmp_path / "ran").exists():
        assert child.process.poll() is None, child.output
        time.sleep(0.01)
    ends_well(child, tmp_path)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("gdb") is None, reason="gdb is not installed")
def test_a_gdb_that_cannot_write_registers_makes_no_call(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message is that of gdb 13 on a processor with AMX."""
    child = start("sleeps")
    asked: list[str] = []
    original = gdb_injection._Gdb.do

    def do(gdb: gdb_injection._Gdb, command: str) -> str:
        asked.append(command)
        refused = command.startswith("set $mxcsr")
        return "Couldn't write extended state status: Bad address.\n" if refused else original(gdb, command)

    monkeypatch.setattr(gdb_injection._Gdb, "do", do)
    with pytest.raises(InjectionFailed, match="gdb is too old for this processor"):
        inject(child, tmp_path)
    assert not any("mmap)" in command for command in asked)
    ends_well(child, tmp_path)


@pytest.mark.slow
@pytest.mark.usefixtures("gdb")
def test_the_process_is_left_as_it_was_when_gdb_hangs(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    child = start("computes")
    monkeypatch.setattr(gdb_injection, "GDB_TIMEOUT_S", 2.0)
    # A call that does not return.
    monkeypatch.setattr(gdb_injection, "_FUNCTIONS", ("PyGILState_Ensure", "PyRun_SimpleStringFlags", "pause"))
    hang = "set $memory = (long)((int(*)(void))pause)()"
    original = gdb_injection._Gdb.do
    monkeypatch.setattr(
        gdb_injection._Gdb, "do", lambda gdb, it: original(gdb, hang if it.startswith("set $memory") else it)
    )
    with pytest.raises(InjectionFailed, match="gdb did not finish within 2 s"):
        inject(child, tmp_path)
    status = gdb_injection._status(child.pid)
    assert status["State"][0] in "RS"
    assert status["TracerPid"] == "0"
    ends_well(child, tmp_path)


@pytest.mark.slow
@pytest.mark.usefixtures("gdb")
def test_the_process_keeps_running_when_gdb_is_killed(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    child = start("computes")
    original = gdb_injection._Gdb.do

    def do(gdb: gdb_injection._Gdb, command: str) -> str:
        if command.startswith("thread find"):
            gdb._process.send_signal(signal.SIGKILL)
        return original(gdb, command)

    monkeypatch.setattr(gdb_injection._Gdb, "do", do)
    with pytest.raises(InjectionFailed, match="gdb has ended"):
        inject(child, tmp_path)
    ends_well(child, tmp_path)


@pytest.mark.slow
@pytest.mark.usefixtures("gdb")
@pytest.mark.parametrize(("when", "killed"), [("before", False), ("before", True), ("meanwhile", False)])
def test_a_process_that_another_program_has_stopped_stays_stopped(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str, killed: bool
) -> None:
    child = start("sleeps")
    original = gdb_injection._Gdb.do

    def do(gdb: gdb_injection._Gdb, command: str) -> str:
        if killed and command.startswith("thread find"):
            gdb._process.send_signal(signal.SIGKILL)
        if when == "meanwhile" and command == "detach":
            os.kill(child.pid, signal.SIGSTOP)
        return original(gdb, command)

    monkeypatch.setattr(gdb_injection._Gdb, "do", do)
    if when == "before":
        os.kill(child.pid, signal.SIGSTOP)
        wait_for_state(child, "T")
    with pytest.raises(InjectionFailed) if killed else nullcontext():
        inject(child, tmp_path)
    wait_for_state(child, "T")
    os.kill(child.pid, signal.SIGCONT)
    ends_well(child, tmp_path)


def wait_for_state(child: Child, state: str) -> None:
    deadline = time.monotonic() + 30
    while (found := gdb_injection._status(child.pid)["State"][0]) != state:
        assert time.monotonic() < deadline, found
        time.sleep(0.01)


@pytest.mark.slow
@pytest.mark.usefixtures("gdb")
@pytest.mark.parametrize("moment", ["attach", "thread find", "restore", "print ((int(*)(void*,void*,void*,void*))"])
def test_a_process_that_ends_during_the_injection_is_reported_as_ended(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    child = start("sleeps")
    original = gdb_injection._Gdb.do

    def do(gdb: gdb_injection._Gdb, command: str) -> str:
        if command.startswith(moment):
            os.kill(child.pid, signal.SIGKILL)
            wait_for_state(child, "Z")
        return original(gdb, command)

    monkeypatch.setattr(gdb_injection._Gdb, "do", do)
    with pytest.raises(InjectionFailed, match="it has ended in the meantime"):
        inject(child, tmp_path)


@pytest.mark.slow
@pytest.mark.usefixtures("gdb")
def test_another_process_with_its_number_is_not_touched(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    child = start("sleeps")
    monkeypatch.setattr(os, "readlink", lambda _: "/logs/worker-0123456789-ffffffff-1.out")
    with pytest.raises(InjectionFailed, match="its process id now belongs to another process"):
        run_in_process(child.pid, "deadbeef", "", "here")
    assert gdb_injection.is_worker(child.pid, "0123456789")
    ends_well(child, tmp_path)


# On another node Ray may run the task in that very worker, because it treats idle workers as equal.
OWN = """
import json, os, select, threading
from raydap.cluster.injection import injection_script
threading.Thread(target=select.epoll().poll, daemon=True).start()
ran = threading.Event()
source = "import __main__; __main__.ran.set()"
refusal = injection_script.task()(injection_script.program(), json.dumps([os.getpid(), "", source, "here"]))
print("refusal:", repr(refusal), "ran:", ran.wait(30))
"""


@pytest.mark.slow
@pytest.mark.usefixtures("gdb")
def test_the_task_may_get_the_very_worker_that_is_meant(tmp_path: Path, children: ExitStack) -> None:
    child = children.enter_context(Child([sys.executable, "-c", OWN], tmp_path / "log"))
    assert child.wait() == 0, child.output
    assert child.output == "refusal: '' ran: True\n"


def test_the_task_says_why_not(tmp_path: Path) -> None:
    run = injection_script.task()
    told = run(injection_script.program(), json.dumps([2**22 + 1, "", "", "node-a"]))
    assert "raydap cannot see its process on node-a" in told
    assert run("raise OSError('no room')", "") == "OSError: no room"


@pytest.fixture
def plain_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gdb_injection, "has_capability", lambda _: False)
    monkeypatch.setattr(shutil, "which", lambda _: "/usr/bin/gdb")


@pytest.mark.usefixtures("plain_user")
@pytest.mark.parametrize(
    ("scope", "words"),
    [
        ("0", ""),
        ("1", "kernel.yama.ptrace_scope=1); run `sudo sysctl kernel.yama.ptrace_scope=0`"),
        ("2", "kernel.yama.ptrace_scope=2); run `sudo sysctl kernel.yama.ptrace_scope=0`"),
        ("3", "until the next reboot (kernel.yama.ptrace_scope=3)"),
        (None, ""),
    ],
)
def test_what_the_kernel_forbids(scope: str | None, words: str, tmp_path: Path) -> None:
    if scope is not None:
        (tmp_path / "scope").write_text(f"{scope}\n")
    reason = obstacle(os.getpid(), "node-a", str(tmp_path / "scope"))
    assert words in reason
    assert bool(reason) == bool(words)


@pytest.mark.usefixtures("plain_user")
def test_what_else_is_in_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    here = os.getpid()
    status = {"State": "S (sleeping)", "Uid": "4321 4321 4321 4321", "TracerPid": "0"}
    assert "runs in its own container" in obstacle(2**22 + 1, "node-a")
    monkeypatch.setattr(gdb_injection, "_status", lambda _: status)
    assert "it belongs to the user 4321" in obstacle(here, "node-a")
    status["Uid"] = str(os.geteuid())
    status["TracerPid"] = "99"
    assert "process 99 on node-a already debugs it" in obstacle(here, "node-a")
    status["TracerPid"] = "0"
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert "gdb is not installed on node-a; install it there" in obstacle(here, "node-a")
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    assert "x86_64 only" in obstacle(here, "node-a")


def test_a_kernel_that_refuses() -> None:
    said = "Attaching to process 7\nptrace: Operation not permitted.\n"
    assert "SYS_PTRACE" in gdb_injection._refusal(said)
    assert "gdb cannot attach to it (what is this)" in gdb_injection._refusal("one\nwhat is  this\n")
