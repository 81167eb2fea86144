"""The parts of a step across `.remote()` that need no debugger (inworker/followed_calls.py and others)."""

import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from raydap.inworker import call_sites, followed_calls, remote_results
from raydap.inworker.followed_calls import FollowedCalls, calls_remote
from raydap.inworker.submitting_lines import submits

LINES = """\
def caller(f, helper):
    frames.append(sys._getframe())
    f.remote(1), frames.append(None)
    helper(f)
    [g.remote() for g in [f]]
"""


@pytest.mark.parametrize(
    ("text", "is_call"),
    [
        ("f.remote(1)", True),
        ("actor.method.remote(1, key={'a': 2})", True),
        ("f.options(num_cpus=1).remote()", True),
        ("f.options(num_cpus=1)", False),
        ("ray.get(f.remote(1))", False),
        ("print", False),
        ("remote", True),
        ("a.remote", True),
        ("(", False),
    ],
)
def test_targets_that_are_calls_of_ray(text: str, is_call: bool) -> None:
    assert calls_remote(text) is is_call


def test_lines_that_submit(tmp_path: Path) -> None:
    path = tmp_path / "lines.py"
    path.write_text(LINES)
    names: dict[str, Any] = {"frames": [], "sys": sys}
    exec(compile(LINES, str(path), "exec"), names)
    seen: dict[int, bool] = {}

    def trace(frame: Any, event: str, _: object) -> Any:
        if frame.f_code.co_name == "caller" and event == "line":
            seen[frame.f_lineno] = submits(frame)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        names["caller"](SimpleNamespace(remote=print), lambda f: None)
    finally:
        sys.settrace(before)
    assert seen == {2: False, 3: True, 4: False, 5: True}


def test_a_call_without_an_answer_goes_on_when_the_debugger_has_left(monkeypatch: pytest.MonkeyPatch) -> None:
    debugger = SimpleNamespace(raydap=object(), pydb_disposed=False)
    calls = FollowedCalls(debugger)
    monkeypatch.setattr(followed_calls, "CHECK_S", 0.001)
    for leave in (lambda: vars(debugger).pop("raydap"), lambda: vars(debugger).update(pydb_disposed=True)):
        vars(debugger).update(raydap=object(), pydb_disposed=False)
        found: list[Any] = []
        thread = threading.Thread(target=lambda found=found: found.append(calls._await(calls._ready, 1, 3600.0)))
        thread.start()
        leave()
        thread.join()
        assert found == [None]


def test_an_answer_ends_the_wait() -> None:
    calls = FollowedCalls(SimpleNamespace(raydap=object(), pydb_disposed=False))
    calls.decide(1, True)
    calls.resolve(2, "ab")
    assert calls._await(calls._ready, 1, 3600.0) is True
    assert calls._await(calls._tasks, 2, 3600.0) == "ab"
    assert calls._await(calls._tasks, 3, 0.0) is None


def test_a_thread_outside_of_tasks_is_no_call() -> None:
    calls = FollowedCalls(SimpleNamespace(raydap=object(), pydb_disposed=False))
    calls.resolve(1, "")
    assert not calls.is_call(1, "")
    assert not calls.is_call(2, "ab")


def test_a_thread_does_not_wait_for_the_call_that_it_submits(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = FollowedCalls(SimpleNamespace(raydap=object(), pydb_disposed=False))
    monkeypatch.setattr(followed_calls, "ID_TIMEOUT_S", 3600.0)
    calls._submitters.add(threading.get_ident())
    assert not calls.is_call(1, "")


def test_only_the_first_call_waits_for_an_id_that_does_not_come(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = FollowedCalls(SimpleNamespace(raydap=object(), pydb_disposed=False))
    monkeypatch.setattr(followed_calls, "ID_TIMEOUT_S", 0.0)
    assert not calls.is_call(1, "")
    monkeypatch.setattr(followed_calls, "ID_TIMEOUT_S", 3600.0)
    assert not calls.is_call(1, "")


def test_ids_of_what_a_call_returns(monkeypatch: pytest.MonkeyPatch) -> None:
    class ObjectRef:
        def task_id(self) -> Any:
            return SimpleNamespace(hex=lambda: "ab")

    task_id = SimpleNamespace(for_actor_creation_task=lambda actor: SimpleNamespace(hex=lambda: f"of {actor}"))
    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace(ObjectRef=ObjectRef))
    monkeypatch.setitem(sys.modules, "ray._raylet", SimpleNamespace(TaskID=task_id))
    ref = ObjectRef()
    for result in (ref, [ref, ref], SimpleNamespace(_generator_ref=ref)):
        assert call_sites.task_of(result) == "ab"
    assert call_sites.task_of(SimpleNamespace(_ray_actor_id="7")) == "of 7"
    assert call_sites.task_of(None) == call_sites.task_of([]) == ""


def test_the_users_frame_is_outside_of_libraries() -> None:
    def frame(name: str, back: Any = None, file: str = "x.py") -> Any:
        return SimpleNamespace(f_globals={"__name__": name}, f_back=back, f_code=SimpleNamespace(co_filename=file))

    worker = frame("__main__", file="/ray/_private/workers/default_worker.py")
    users = frame("__main__", worker)
    get = frame("ray._private.worker", users)
    assert remote_results.users_frame(get) is users
    assert remote_results.users_frame(frame("_pydev_bundle.x", frame("asyncio.events", worker))) is None
