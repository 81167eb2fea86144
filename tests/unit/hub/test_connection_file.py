"""Connection files: their folder, their permissions, and the choice among several."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from raydap.hub import connection_file
from raydap.hub.connection_file import ConnectionInfo
from raydap.transport import runtime_folder


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "run").mkdir()
    return {"XDG_RUNTIME_DIR": str(tmp_path / "run"), "HOME": str(tmp_path / "home")}


def hub(port: int = 4711, host: str = "127.0.0.1", token: str | None = "secret", pid: int = 0) -> ConnectionInfo:
    return ConnectionInfo(host=host, port=port, tls=False, token=token, pid=pid, dashboard="http://127.0.0.1:8265")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_only_the_owner_can_read_it(environ: dict[str, str]) -> None:
    before = os.umask(0)
    try:
        path = connection_file.write(hub(), environ=environ)
    finally:
        os.umask(before)
    assert mode(path) == 0o600
    assert mode(path.parent) == 0o700
    assert path.parent == Path(environ["XDG_RUNTIME_DIR"], "raydap")
    assert connection_file.read(path) == hub()
    assert [file.name for file in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("runtime", ["", "/no/such/folder"])
def test_without_a_runtime_folder_it_is_at_home(environ: dict[str, str], runtime: str) -> None:
    path = connection_file.write(hub(), environ={**environ, "XDG_RUNTIME_DIR": runtime})
    assert path.parent == Path(environ["HOME"], ".local/share/raydap/runtime")
    assert mode(path.parent) == 0o700


@pytest.mark.parametrize("home", ["", "/proc/home"])
def test_without_a_home_folder_it_is_in_tmp(home: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A container may have no HOME and no entry for the user, or a home folder that is read-only."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    monkeypatch.setattr(os, "getuid", lambda: f"test-{tmp_path.name}")
    with pytest.raises(PermissionError, match="not a folder of yours") as caught:  # This id is no number.
        runtime_folder.directory({"HOME": home})
    Path(caught.value.filename).rmdir()
    assert caught.value.filename == f"/tmp/raydap-test-{tmp_path.name}"
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_others_could_enter_is_closed(environ: dict[str, str]) -> None:
    folder = Path(environ["XDG_RUNTIME_DIR"], "raydap")
    folder.mkdir()
    folder.chmod(0o777)
    assert runtime_folder.directory(environ) == folder
    assert mode(folder) == 0o700


def test_a_link_in_the_folder_s_place_is_refused(environ: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    Path(environ["XDG_RUNTIME_DIR"], "raydap").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(PermissionError, match="not a folder of yours"):
        connection_file.write(hub(), environ=environ)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_link_in_the_file_s_place_is_replaced_not_followed(tmp_path: Path) -> None:
    victim, path = tmp_path / "victim", tmp_path / "hub.json"
    victim.write_text("untouched")
    path.symlink_to(victim)
    assert connection_file.write(hub(), path) == path
    assert victim.read_text() == "untouched"
    assert not path.is_symlink()
    assert connection_file.read(path) == hub()


def test_what_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "hub.json").mkdir()
    with pytest.raises(OSError, match=r"hub\.json"):
        connection_file.write(hub(), tmp_path / "hub.json")
    assert [file.name for file in tmp_path.iterdir()] == ["hub.json"]


def test_only_one_s_own_file_is_removed(tmp_path: Path) -> None:
    path = connection_file.write(hub(1), tmp_path / "hub.json")
    connection_file.remove(path, hub(2))
    assert path.exists()
    connection_file.remove(path, hub(1))
    assert not path.exists()
    connection_file.remove(path, hub(1))


def test_the_newest_of_the_address_is_meant(environ: dict[str, str]) -> None:
    for age, one in enumerate([hub(1, token="new"), hub(2), hub(1, "10.0.0.7"), hub(1, token="old", pid=os.getpid())]):
        path = connection_file.write(one, Path(runtime_folder.directory(environ), f"{age}.json"))
        os.utime(path, (1000 - age, 1000 - age))
    assert connection_file.newest(environ=environ) == hub(1, token="new")
    assert connection_file.newest("127.0.0.1", 2, environ) == hub(2)
    assert connection_file.newest("localhost", 1, environ) == hub(1, token="new")
    assert connection_file.newest("10.0.0.7", 1, environ) == hub(1, "10.0.0.7")
    assert connection_file.newest("10.0.0.7", 2, environ) is None
    assert connection_file.newest("127.0.0.1", 3, environ) is None


def test_dead_hubs_and_other_files_do_not_count(environ: dict[str, str]) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    connection_file.write(hub(pid=ended.pid), environ=environ)
    (runtime_folder.directory(environ) / "x.json").write_text("{}")
    (runtime_folder.directory(environ) / "y.json").write_text("no JSON")
    assert connection_file.newest(environ=environ) is None


@pytest.mark.parametrize(
    ("host", "tls", "url"),
    [("127.0.0.1", False, "ws://127.0.0.1:4711/dap"), ("::1", True, "wss://[::1]:4711/dap")],
)
def test_the_url_is_what_connect_takes(host: str, tls: bool, url: str) -> None:
    assert ConnectionInfo(host=host, port=4711, tls=tls, token=None, pid=0).url == url


def test_a_hub_that_listens_everywhere_is_reached_on_loopback() -> None:
    assert [connection_file.reachable(host) for host in ("0.0.0.0", "::", "10.0.0.7")] == [
        "127.0.0.1",
        "::1",
        "10.0.0.7",
    ]
