"""Another local user acts between two steps of raydap."""

import asyncio
import os
import socket
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from raydap import private_listener
from raydap.cluster.injection import gdb_injection, remote_exec
from raydap.cluster.machine import outside_looks
from raydap.cluster.relay import relay_actor
from raydap.cluster.survey import node_survey
from raydap.inworker import stuck_adapter
from raydap.inworker.agent_socket import AgentSocket
from raydap.inworker.private_sockets import listen_privately
from raydap.inworker.raylets import raylets
from raydap.transport import runtime_folder
from support.made_up_proc import add_process
from support.other_users import ATTACKER, acting_as, needs_root, not_forever
from users.user_files import SECRET, Place

pytestmark = needs_root


def listen(path: str) -> None:
    private_listener.listen(path).close()


def listen_over_relay(path: str) -> None:
    async def main() -> None:
        watch = relay_actor.AgentWatch(*os.path.split(path), lambda hello, connection: 1)
        try:
            await watch.begin()
        finally:
            watch.close()

    asyncio.run(main())


def serve_agent(path: str) -> None:
    served = AgentSocket()
    try:
        listen_privately(served, path, 8)
    finally:
        served.close()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not give the path the mode of the socket")
@pytest.mark.parametrize("make", [listen, listen_over_relay, serve_agent])
def test_a_link_takes_the_place_of_a_new_socket(make: Callable[[str], None], place: Place) -> None:
    """raydap must not change the mode of the link's target."""
    bind = socket.socket.bind
    linked: list[str] = []

    def bind_and_be_robbed(self: socket.socket, path: str) -> None:
        bind(self, path)
        with acting_as(ATTACKER), suppress(OSError):
            os.rename(path, f"{path}.away")
            os.symlink(place.treasure, path)
            linked.append(path)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(AgentSocket if make is serve_agent else socket.socket, "bind", bind_and_be_robbed)
        with acting_as(place.victim), suppress(OSError):
            make(str(place.shared / "raydap-call-1-1"))
    assert bool(linked) is not bool(place.shared.stat().st_mode & 0o1000)
    place.check_treasure()


def test_the_runtime_folder_is_replaced_before_it_is_used(place: Place) -> None:
    environ = {"XDG_RUNTIME_DIR": str(place.shared), "HOME": str(place.home)}
    with acting_as(place.victim):
        folder = runtime_folder.directory(environ)
        with acting_as(ATTACKER), suppress(OSError):
            folder.rename(f"{folder}.away")
            folder.mkdir()
            folder.chmod(0o777)
        (folder / "hub.json").write_text(SECRET)
    with acting_as(ATTACKER), pytest.raises(PermissionError):
        (folder / "hub.json").read_text()


def test_a_link_takes_the_name_of_a_file_that_a_process_has_run(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """raydap must not truncate the link's target."""

    def run_and_link(pid: int, path: str) -> None:
        os.unlink(path)
        with acting_as(ATTACKER):
            os.symlink(place.treasure, path)

    monkeypatch.setattr(sys, "remote_exec", run_and_link, raising=False)
    # Even if no other user can rename the file, its name can be taken once it is gone.
    monkeypatch.setattr(remote_exec, "safe_parent", lambda: str(place.shared), raising=False)
    monkeypatch.setattr(remote_exec, "RUN_TIMEOUT_S", 0.1)
    with acting_as(place.victim):
        remote_exec.run_in_process(1, "pass")
    place.check_treasure()


def test_code_for_a_process_is_in_a_file_that_no_other_user_can_replace(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    replaced: list[str] = []

    def replace_and_run(pid: int, path: str) -> None:
        with acting_as(ATTACKER), suppress(OSError):
            os.rename(path, f"{path}.away")
            replaced.append(path)
        os.unlink(path)

    monkeypatch.setattr(sys, "remote_exec", replace_and_run, raising=False)
    with acting_as(place.victim):
        remote_exec.run_in_process(1, "pass")
    assert replaced == []


def test_code_for_gdb_is_in_a_file_without_a_name(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    class Gdb:
        def __init__(self, *descriptors: int) -> None:
            seen.extend([os.fstat(each).st_nlink for each in descriptors])

        def end(self) -> bool:
            return True

    monkeypatch.setattr(gdb_injection, "_Gdb", Gdb)
    monkeypatch.setattr(gdb_injection, "_start_thread", lambda *_: seen.append(os.listdir(tempfile.gettempdir())))
    monkeypatch.setattr(gdb_injection, "obstacle", lambda pid, node: "")
    with acting_as(place.victim):
        gdb_injection.run_in_process(os.getpid(), "w1", "pass", "node")
    assert seen == [0, []]


def test_a_pipe_takes_the_place_of_a_source(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    path = place.shared / "a.py"
    with acting_as(ATTACKER):
        path.write_text("print()")
    is_file = os.path.isfile

    def is_file_and_robbed(name: str) -> bool:
        found = is_file(name)
        if name == str(path) and found:
            with acting_as(ATTACKER):
                path.unlink()
                os.mkfifo(path)
        return found

    monkeypatch.setattr(os.path, "isfile", is_file_and_robbed)
    with acting_as(place.victim), not_forever():
        found = node_survey._Files([{"path": "/app/a.py", "digest": "x"}]).places([str(place.shared)], [])
    assert found == {"/app/a.py": [{"path": str(path), "same": False}]}


def made_up_process(proc: Path, uid: int, *words: str) -> Path:
    """Add a process to a made-up /proc. Reading its memory never ends, as with its user's own file system."""
    folder = add_process(proc, 7, *words, uids=4 * [uid])
    for name in ("cmdline", "environ"):
        (folder / name).unlink(missing_ok=True)
        os.mkfifo(folder / name)
    return folder


def test_the_memory_of_another_users_process_is_not_read(tmp_path: Path) -> None:
    """Its user can make a read of its command line and environment last forever."""
    made_up_process(tmp_path, ATTACKER, "/x/raylet", "--session-name=s1")
    with not_forever():
        assert list(raylets(tmp_path)) == []


def test_odd_folders_in_proc_are_passed_over(tmp_path: Path) -> None:
    for name, content in (("8", b"\xff\0"), ("9", b""), ("self", b"x")):
        (tmp_path / name).mkdir()
        for file in ("cmdline", "status", "stat", "auxv", "environ"):
            (tmp_path / name / file).write_bytes(content)
    assert list(raylets(tmp_path)) == []
    assert list(outside_looks.forked_children([8, 9], tmp_path)) == []


def test_a_process_with_a_hostile_name_has_no_children(tmp_path: Path) -> None:
    """The name of a process is in parentheses, and may itself contain parentheses."""
    for pid, stat in ((5, b"5 (victim) S 1 5"), (6, b"6 (x) S 5 6) S 1 6")):
        (tmp_path / str(pid)).mkdir()
        (tmp_path / str(pid) / "stat").write_bytes(stat)
        (tmp_path / str(pid) / "auxv").write_bytes(b"same")
    assert list(outside_looks.forked_children([5], tmp_path)) == []


def test_an_adapter_is_looked_for_among_processes_of_this_user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Every user can read the token in the adapter's command line, and put it into another command line."""
    made_up_process(tmp_path, ATTACKER, "adapter")
    killed: list[int] = []
    read = open
    monkeypatch.setattr(os, "kill", lambda pid, number: killed.append(pid))
    monkeypatch.setattr(os, "listdir", lambda path: ["7"])
    monkeypatch.setattr(
        stuck_adapter, "open", lambda path, mode: read(path.replace("/proc", str(tmp_path)), mode), raising=False
    )

    class Debugger:
        class authentication:
            access_token = "t"

    with not_forever():
        stuck_adapter._kill(Debugger)
    assert killed == []
