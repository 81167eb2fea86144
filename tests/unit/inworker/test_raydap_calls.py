"""The raydap that a process calls when it starts."""

import socket
import sys
import threading
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from raydap.inworker import raydap_calls
from raydap.inworker.raydap_calls import call_raydaps, skip_post_mortem_alone


class Calls:
    """Stands in for raydaps, given by socket name: whether each wants to debug, or None if it was killed."""

    def __init__(self, folder: Path, **raydaps: bool | None) -> None:
        self.folder = folder
        self.raydaps = {name.replace("_", "-"): wants for name, wants in raydaps.items()}
        self.called: list[str] = []
        for name in (*self.raydaps, "raydap-17", "plasma_store"):
            (folder / name).touch()

    def __call__(self, path: str) -> bool:
        name = Path(path).name
        self.called.append(name)
        wants = self.raydaps[name]
        if not Path(path).exists():
            raise FileNotFoundError
        if wants is None:
            raise ConnectionRefusedError
        return wants


def test_the_raydap_that_has_started_the_program_is_the_only_one_to_call(tmp_path: Path) -> None:
    calls = Calls(tmp_path, raydap=True, raydap_call_1_1=True)
    assert call_raydaps(calls, str(tmp_path), str(tmp_path / "raydap")) == str(tmp_path / "raydap")
    calls.raydaps["raydap"] = False
    assert call_raydaps(calls, str(tmp_path), str(tmp_path / "raydap")) == ""
    assert calls.called == ["raydap", "raydap"]


@pytest.mark.parametrize("given", [False, True])
def test_without_it_each_is_called_until_one_debugs(tmp_path: Path, given: bool) -> None:
    calls = Calls(tmp_path, raydap=None, raydap_call_1_1=False, raydap_call_2_1=True, raydap_call_3_1=True)
    raydap = str(tmp_path / "raydap") if given else ""
    assert call_raydaps(calls, str(tmp_path), raydap) == str(tmp_path / "raydap-call-2-1")
    assert calls.called == ["raydap"] * given + ["raydap-call-1-1", "raydap-call-2-1"]


def test_what_a_killed_raydap_has_left_is_removed(tmp_path: Path) -> None:
    calls = Calls(tmp_path, raydap_call_1_1=None, raydap_call_2_1=False)
    assert call_raydaps(calls, str(tmp_path)) == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["plasma_store", "raydap-17", "raydap-call-2-1"]


def test_no_raydap_answers(tmp_path: Path) -> None:
    def unreachable(path: str) -> bool:
        raise PermissionError

    assert call_raydaps(unreachable, str(tmp_path / "missing")) == ""
    (tmp_path / "raydap-call-1-1").touch()
    assert call_raydaps(unreachable, str(tmp_path)) == ""
    assert (tmp_path / "raydap-call-1-1").exists()


def test_a_raydap_on_another_machine_is_called_through_its_relay(tmp_path: Path) -> None:
    """The socket of the relay may also appear a moment later. No other raydap is called."""
    calls = Calls(tmp_path, raydap_call_1_1=True, raydap_call_2_1=True)
    far = "/on/another/machine/raydap-call-2-1"
    assert call_raydaps(calls, str(tmp_path), far) == str(tmp_path / "raydap-call-2-1")
    (tmp_path / "raydap-call-2-1").unlink()
    threading.Timer(0.1, (tmp_path / "raydap-call-2-1").touch).start()
    assert call_raydaps(calls, str(tmp_path), far) == str(tmp_path / "raydap-call-2-1")
    assert calls.called == ["raydap-call-2-1"] * 4


def test_a_relay_that_does_not_come_does_not_keep_a_process_from_other_raydaps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(raydap_calls, "RELAY_TIMEOUT_S", 0.1)
    calls = Calls(tmp_path, raydap_call_1_1=True)
    calls.raydaps["raydap-call-2-1"] = True
    assert call_raydaps(calls, str(tmp_path), "/gone/raydap-call-2-1") == str(tmp_path / "raydap-call-1-1")


def test_a_forked_child_waits_for_no_relay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(raydap_calls, "wait_for_relay", None)
    calls = Calls(tmp_path, raydap_call_1_1=True)
    calls.raydaps["raydap-call-2-1"] = True
    far = "/gone/raydap-call-2-1"
    assert call_raydaps(calls, str(tmp_path), far, wait=False) == str(tmp_path / "raydap-call-1-1")
    (tmp_path / "raydap-call-2-1").touch()
    assert call_raydaps(calls, str(tmp_path), far, wait=False) == str(tmp_path / "raydap-call-2-1")


def test_a_post_mortem_waits_only_while_raydap_listens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ray_debugpy: Any = ModuleType("ray.util.debugpy")
    ray_debugpy._post_mortem = lambda: "waits"
    monkeypatch.setitem(sys.modules, "ray.util.debugpy", ray_debugpy)
    raydap = str(tmp_path / "raydap-call-7")
    skip_post_mortem_alone(raydap, str(tmp_path))
    assert ray_debugpy._post_mortem() is None
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(raydap)
        listener.listen()
        assert ray_debugpy._post_mortem() == "waits"
    assert ray_debugpy._post_mortem() is None
