"""The worker reads files that the client's machine does not have."""

import json

import pytest

from raydap.core.workers.working_dirs import MAX_COPIES
from raydap.errors import Code
from support.fake_client import FakeClient
from support.fake_worker import PLUMBING, FakeWorker
from support.playbook import Play


def sources(client: FakeClient, thread: int) -> dict[str, int]:
    """Return the sourceReference of each file in a stack, or 0 where the client opens the file itself."""
    frames = client.request("stackTrace", threadId=thread)["stackFrames"]
    return {frame["source"]["path"]: frame["source"].get("sourceReference", 0) for frame in frames}


PACKAGE = "/tmp/ray/working_dir_files/_ray_pkg_0123abcd"


def test_a_breakpoint_in_a_file_of_which_the_job_runs_a_copy_is_not_verified(play: Play) -> None:
    client = play.session()
    worker = play.worker("w1")
    worker.folder, worker.copy = PACKAGE, f"{PACKAGE}/src/train.py"
    play.paused(worker)
    for _ in range(2):
        client.request("setBreakpoints", source={"path": "/home/me/src/train.py"}, breakpoints=[{"line": 7}])
    client.event("breakpoint")
    assert '"/home/me"' in client.told(Code.FILE_COPIED)
    changed = client.event("breakpoint")["breakpoint"]
    assert changed["verified"] is False
    for event in ("breakpoint", "breakpoint"):
        client.event(event)
    assert changed["message"] == 'The job runs a copy of this file; attach with "workspaceFolder": "/home/me".'
    client.nothing()


def test_other_files_of_such_a_worker_are_verified(play: Play) -> None:
    client = play.session()
    worker = play.worker("w1")
    worker.folder, worker.copy = PACKAGE, ""
    play.paused(worker)
    for path in ("/venv/lib/json.py", f"{PACKAGE}/src/train.py"):
        client.request("setBreakpoints", source={"path": path}, breakpoints=[{"line": 7}])
        assert client.event("breakpoint")["breakpoint"]["verified"] is True
    client.nothing()


MODULE = "/tmp/ray/py_modules_files/_ray_pkg_0ab1"


def sources_set(worker: FakeWorker) -> dict[str, list[int]]:
    """Return the lines of the breakpoints that the worker has now, by the worker's paths."""
    sent = [each["arguments"] for each in worker.heard if each["command"] == "setBreakpoints"]
    return {each["source"]["path"]: [line["line"] for line in each["breakpoints"]] for each in sent}


@pytest.mark.parametrize("arguments", [{}, {"workspaceFolder": "/home/me"}])
def test_breakpoints_hold_in_copies_of_py_modules(play: Play, arguments: dict[str, str]) -> None:
    mine, copy = "/home/me/libs/shop/prices.py", f"{MODULE}/shop/prices.py"
    client = play.session(arguments)
    client.request("setBreakpoints", source={"path": mine}, breakpoints=[{"line": 7}])
    worker = play.worker("w1")
    worker.folder, worker.module_copies, worker.path = "/srv", [copy], copy
    play.paused(worker)
    assert sources_set(worker) == {copy: [7], mine: [7]}
    names = [each["command"] for each in worker.heard]
    assert max(at for at, name in enumerate(names) if name == "setBreakpoints") < names.index("configurationDone")
    assert client.event("breakpoint")["breakpoint"]["verified"] is True
    worker.stop()
    thread = client.stop()["threadId"]
    # The stop is at no breakpoint, so the stack shows the copy's path, and invents no folder of the client.
    assert copy in sources(client, thread)
    client.request("setBreakpoints", source={"path": mine}, breakpoints=[{"line": 9}])
    assert sources_set(worker) == {copy: [9], mine: [9]}
    client.event("breakpoint")
    client.request("setBreakpoints", source={"path": mine}, breakpoints=[])
    assert sources_set(worker) == {copy: [], mine: []}
    other = "/home/me/libs/shop/tax.py"
    worker.module_copies = [f"{MODULE}/shop/tax.py"]
    client.request("setBreakpoints", source={"path": other}, breakpoints=[{"line": 3}])
    assert sources_set(worker)[other] == sources_set(worker)[f"{MODULE}/shop/tax.py"] == [3]
    client.event("breakpoint")
    client.nothing()


def test_a_copy_has_the_breakpoints_of_one_file(play: Play) -> None:
    copy = f"{MODULE}/shop/prices.py"
    client = play.session()
    worker = play.worker("w1")
    worker.folder, worker.module_copies = "/srv", [copy]
    play.paused(worker)
    for path in ("/home/me/libs/shop/prices.py", "/home/me/old/shop/prices.py", copy):
        client.request("setBreakpoints", source={"path": path}, breakpoints=[{"line": 7}])
        client.event("breakpoint")
    lines = [each["arguments"]["source"]["path"] for each in worker.heard if each["command"] == "setBreakpoints"]
    assert lines == ["/home/me/libs/shop/prices.py", copy, "/home/me/old/shop/prices.py", copy]


def test_a_worker_that_ends_while_it_looks_for_copies_is_forgotten(play: Play) -> None:
    client = play.session()
    client.request("setBreakpoints", source={"path": "/home/me/shop/prices.py"}, breakpoints=[{"line": 7}])
    worker = play.worker("w1")
    worker.folder, worker.module_copies = "/srv", [f"{MODULE}/shop/prices.py"]
    worker.hold.add("copies")
    play.paused(worker)
    assert "copies_of" in worker.heard[-1]["arguments"]["expression"]
    worker.die()
    client.told(Code.WORKER_BUSY)
    assert "configurationDone" not in [each["command"] for each in worker.heard]
    client.nothing()


@pytest.mark.parametrize("answer", ["nonsense", "[]", "[1, 2]", '["/srv", 3]', '"/srv"', "{}"])
def test_a_malformed_answer_about_copies_changes_nothing(play: Play, answer: str) -> None:
    client = play.session()
    client.request("setBreakpoints", source={"path": "/home/me/shop/prices.py"}, breakpoints=[{"line": 7}])
    worker = play.worker("w1")
    worker.folder, worker.module_copies, worker.copies_answer = "/srv", ["x"], answer
    play.paused(worker)
    assert client.event("breakpoint")["breakpoint"]["verified"] is True
    assert sources_set(worker) == {"/home/me/shop/prices.py": [7]}


def test_few_copies_of_a_file_get_its_breakpoints_whatever_a_worker_answers(play: Play) -> None:
    client = play.session()
    client.request("setBreakpoints", source={"path": "/home/me/shop/prices.py"}, breakpoints=[{"line": 7}])
    worker = play.worker("w1")
    worker.folder, worker.module_copies = "/srv", [f"/{number}" for number in range(1000)]
    play.paused(worker)
    client.event("breakpoint")
    assert len(sources_set(worker)) == MAX_COPIES + 1


def test_a_stack_in_a_copy_is_reported_once(play: Play) -> None:
    client = play.session()
    worker = play.worker("w1")
    worker.path = f"{PACKAGE}/train.py"
    play.paused(worker)
    worker.stop()
    thread = client.stop()["threadId"]
    for _ in range(2):
        client.request("stackTrace", threadId=thread)
    assert '"workspaceFolder"' in client.told(Code.FILE_COPIED)
    client.nothing()


def test_a_file_that_is_not_here_is_read_by_its_worker(play: Play) -> None:
    play.missing = {PLUMBING}
    client = play.session()
    one, two = play.attached("w1", "w2")
    one.stop()
    two.stop()
    first = sources(client, client.stop()["threadId"])
    second = sources(client, client.stop()["threadId"])
    assert first[one.path] == second[two.path] == 0
    assert 0 < first[PLUMBING] != second[PLUMBING] > 0
    for worker in (one, two):
        worker.commands()
    two.hold.add("evaluate")
    seq = client.send("source", source={"path": PLUMBING}, sourceReference=second[PLUMBING])
    asked = two.heard[-1]
    assert PLUMBING in asked["arguments"]["expression"]
    assert one.commands() == []
    two.hold.clear()
    two.reply(asked, {"result": json.dumps("import ray\n"), "variablesReference": 0})
    assert client.answer(seq) == {"content": "import ray\n"}


def test_a_file_that_the_worker_cannot_read_either_is_an_error(play: Play) -> None:
    play.missing = {PLUMBING}
    client = play.session()
    (worker,) = play.attached("w1")
    worker.stop()
    reference = sources(client, client.stop()["threadId"])[PLUMBING]
    worker.hold.add("evaluate")
    for answer in ({"result": "nonsense", "variablesReference": 0}, {"result": "7", "variablesReference": 0}, {}):
        seq = client.send("source", sourceReference=reference)
        worker.reply(worker.heard[-1], answer)
        assert PLUMBING in client.refusal(Code.WORKER_BROKEN, seq)
    seq = client.send("source", sourceReference=reference)
    worker.refuse(worker.heard[-1], "FileNotFoundError")
    client.refusal(Code.WORKER_BROKEN, seq)


def test_files_of_the_users_folder_are_the_clients_wherever_the_bridge_runs(play: Play) -> None:
    play.missing = {"/app/train.py", PLUMBING}
    client = play.session({"pathMappings": [{"localRoot": "/app", "remoteRoot": "/srv"}]})
    (worker,) = play.attached("w1")
    worker.stop()
    shown = sources(client, client.stop()["threadId"])
    assert shown["/app/train.py"] == 0
    assert shown[PLUMBING] > 0


def test_what_debugpy_gave_a_reference_stays_debugpys(play: Play) -> None:
    play.missing = {"/app/train.py"}
    client = play.session()
    (worker,) = play.attached("w1")
    worker.source_reference = 3
    worker.stop()
    reference = sources(client, client.stop()["threadId"])["/app/train.py"]
    worker.commands()
    client.send("source", sourceReference=reference)
    assert worker.heard[-1]["arguments"]["sourceReference"] == 3
    client.inbox.clear()
    client.open.clear()


def test_references_end_with_their_worker(play: Play) -> None:
    play.missing = {PLUMBING}
    client = play.session()
    (worker,) = play.attached("w1")
    worker.stop()
    reference = sources(client, client.stop()["threadId"])[PLUMBING]
    worker.die()
    client.told(Code.WORKER_GONE)
    client.event("thread")
    client.refused(Code.STALE_ID, "source", sourceReference=reference)


@pytest.mark.parametrize("hostile", ["[" * 100_000, "9" * 10_000, "\x00", "[1, 2", '{"a": 1}', "['x']", "null"])
def test_hostile_text_of_a_worker_costs_its_answer_only(play: Play, hostile: str) -> None:
    play.missing = {PLUMBING}
    client = play.session()
    (worker,) = play.attached("w1")
    worker.stop()
    reference = sources(client, client.stop()["threadId"])[PLUMBING]
    worker.hold.add("evaluate")
    seq = client.send("source", sourceReference=reference)
    worker.reply(worker.heard[-1], {"result": hostile, "variablesReference": 0})
    client.refusal(Code.WORKER_BROKEN, seq)
    seq = client.send("breakpointLocations", source={"path": worker.path}, line=1, endLine=9)
    worker.reply(worker.heard[-1], {"result": hostile, "variablesReference": 0})
    assert client.answer(seq) == {"breakpoints": []}
