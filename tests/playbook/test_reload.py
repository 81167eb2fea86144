"""raydap/reload: new code without a restart (docs/requests.md)."""

import json
import random
from typing import Any

import pytest

from raydap.core.effects import AskAgent, AskWaiting, ReleaseAgent
from raydap.core.events import AgentAnswered, AgentCalled, WaitingAnswered
from raydap.core.process_info import RayFacts
from raydap.core.workers import new_texts
from raydap.errors import Code
from raydap.inworker import calls
from support.fake_client import FakeClient
from support.fake_worker import FakeWorker
from support.playbook import Play
from support.prepared_workers import launched, prepared

TEXT = "def step():\n    return 2\n"
FILE = {"path": "/app/train.py", "text": TEXT}


def answer(**lists: Any) -> str:
    return json.dumps({"loaded": True, **lists})


def asked(worker: FakeWorker) -> list[str]:
    """Return the expressions with new code that the worker has received."""
    expressions = [each.get("arguments", {}).get("expression", "") for each in worker.heard]
    return [each for each in expressions if "reload_code" in each]


def console(client: FakeClient) -> str:
    return str(client.event("output")["output"])


def test_all_workers_get_the_code_and_the_answer_is_folded(play: Play) -> None:
    client = play.session()
    workers = [play.worker(f"w{number}", RayFacts(actor="Trainer", job="01")) for number in range(3)]
    play.paused(*workers)
    workers[0].stop()
    client.stop()
    for worker in workers[:2]:
        worker.reload = answer(changed=["step"], added=["helper"], running=["fit"])
    workers[2].reload = answer(kept=[["step", "its closure has changed (b)"]])
    found = client.request("raydap/reload", **FILE)
    assert console(client) == "train.py: new code for 2 names in 2 workers; 1 could not be changed.\n"
    assert found["text"].splitlines()[1:] == [
        "  changed: step in Trainer{0-1}",
        "  added: helper in Trainer{0-1}",
        "  not changed: step in Trainer 2: its closure has changed (b)",
        "  runs its old code until its next call: fit in Trainer{0-1}",
    ]
    assert found["changed"] == [{"name": "step", "reason": "", "workers": ["w0", "w1"], "label": "Trainer{0-1}"}]
    assert (found["unreached"], found["unloaded"]) == ([], [])
    assert asked(workers[2]) == [calls.reload_code(["/app/train.py"], "", new_texts.pack(TEXT))]


def test_the_breakpoints_of_the_file_are_set_again_after_the_new_code(play: Play) -> None:
    client = play.session()
    client.request("setBreakpoints", source={"path": "/app/train.py"}, breakpoints=[{"line": 7}])
    client.request("setBreakpoints", source={"path": "/app/other.py"}, breakpoints=[{"line": 7}])
    (worker,) = play.attached("w1")
    client.inbox.clear()
    worker.heard.clear()
    client.request("raydap/reload", **FILE)
    assert worker.commands()[:2] == ["evaluate", "setBreakpoints"]
    client.inbox.clear()


def test_a_file_that_does_not_compile_reaches_one_worker(play: Play) -> None:
    client = play.session()
    one, other = play.attached("w1", "w2")
    one.reload = json.dumps({"error": "line 3: invalid syntax"})
    client.refused(Code.NOT_RELOADED, "raydap/reload", **FILE)
    assert (len(asked(one)), asked(other)) == (1, [])


@pytest.mark.parametrize("sent", ["nonsense", '{"changed": 7}', "[" * 100_000, '{"kept": [["x"]]}'])
def test_an_answer_that_cannot_be_read(rough_play: Play, sent: str) -> None:
    client = rough_play.session()
    one, other = rough_play.attached("w1", "w2")
    one.reload = sent
    other.reload = answer(changed=["step"])
    found = client.request("raydap/reload", **FILE)
    rough_play.warned("cannot decode what w1 has sent about a reload")
    assert [each["workers"] for each in found["unreached"]] == [["w1"]]
    assert found["changed"][0]["workers"] == ["w2"]
    assert console(client) == "train.py: new code for 1 name in 1 worker; 1 worker not reached.\n"


def test_a_worker_that_comes_later_gets_the_code_before_it_runs(play: Play) -> None:
    client = play.session({"workspaceFolder": "/app"})
    (early,) = play.attached("w1")
    client.request("raydap/reload", **FILE)
    client.inbox.clear()
    later = play.worker("w2")
    play.paused(early, later)
    assert asked(later) == [calls.reload_code(["/app/train.py"], "train.py", new_texts.pack(TEXT))]
    received = [each["command"] for each in later.heard]
    last = max(number for number, each in enumerate(later.heard) if "reload_code" in str(each))
    assert received.index("configurationDone") > last


def test_a_worker_without_a_debugger_is_asked_through_its_agent(play: Play) -> None:
    client = launched(play)
    worker = prepared(play, "w1")
    play.feed(AgentCalled(worker.row))
    play.take(ReleaseAgent)
    seq = client.send("raydap/reload", **FILE)
    question = play.take(AskAgent)
    assert question.question == {"query": calls.reload_in_agent(["/app/train.py"], "", new_texts.pack(TEXT))}
    play.feed(AgentAnswered(question.number, answer(changed=["step"])))
    console(client)
    assert client.answer(seq)["changed"][0]["workers"] == ["w1"]
    # A process that starts later waits until it has the new code.
    later = prepared(play, "w2")
    play.feed(AgentCalled(later.row))
    question = play.take(AskAgent)
    assert question.target.worker == "w2"
    play.feed(AgentAnswered(question.number, "", "it has ended"))
    assert play.take(ReleaseAgent).worker == "w2"
    play.warned("does not answer")
    client.send("disconnect")
    client.inbox.clear()
    play._effects.clear()


def test_a_worker_that_waits_in_breakpoint_gets_the_code_by_a_short_attach(play: Play) -> None:
    client = play.session({"autoAttach": False})
    play.paused(play.worker("w1"))
    seq = client.send("raydap/reload", **FILE)
    question = play.take(AskWaiting)
    assert question.expression == calls.reload_code(["/app/train.py"], "", new_texts.pack(TEXT))
    play.feed(WaitingAnswered(question.target.worker, "", "it has ended"))
    play.tick(40)
    console(client)
    assert client.answer(seq)["unreached"][0]["workers"] == ["w1"]


def test_paths_are_mapped_to_the_workers(play: Play) -> None:
    mappings = [{"localRoot": "/app", "remoteRoot": "."}, {"localRoot": "/app", "remoteRoot": "/srv/app/"}]
    client = play.session({"pathMappings": mappings})
    (worker,) = play.attached("w1")
    client.request("raydap/reload", **FILE)
    client.inbox.clear()
    paths = ["train.py", "/srv/app/train.py", "/app/train.py"]
    assert asked(worker) == [calls.reload_code(paths, "", new_texts.pack(TEXT))]


def test_detached_workers_keep_the_new_code(play: Play) -> None:
    client = play.session()
    one, _ = play.attached("w1", "w2")
    one.reload = answer(changed=["step"])
    client.request("raydap/reload", **FILE)
    client.inbox.clear()
    client.request("raydap/detach", workers=["w1", "w2"])
    assert console(client) == "1 worker keeps the new code of train.py.\n"


def test_the_end_of_a_session_reports_the_new_code(play: Play) -> None:
    client = play.session()
    for worker in play.attached("w1", "w2"):
        worker.reload = answer(changed=["step"])
    client.request("raydap/reload", **FILE)
    client.inbox.clear()
    client.send("disconnect")
    assert console(client) == "2 workers keep the new code of train.py.\n"
    client.inbox.clear()
    play._effects.clear()


def test_observers_and_long_files_are_refused(play: Play) -> None:
    client = play.session()
    play.attached("w1")
    observer = play.joined({"role": "observer"})
    observer.refused(Code.OBSERVER, "raydap/reload", **FILE)
    noise = random.Random(1).randbytes(200_000).hex()
    client.refused(Code.BAD_ARGUMENT, "raydap/reload", path="/app/train.py", text=noise)


def test_a_file_that_no_worker_has_loaded_is_not_reported_to_others(play: Play) -> None:
    client = play.session()
    one, other = play.attached("w1", "w2")
    one.reload = other.reload = '{"loaded": false}'
    found = client.request("raydap/reload", **FILE)
    assert (found["text"], found["unloaded"]) == ("train.py: no worker has loaded this file.", ["w1", "w2"])
    other.reload = answer()
    found = client.request("raydap/reload", **FILE)
    assert found["text"] == "train.py: no function has changed.\n  not loaded yet: 1 worker"
    assert console(client) == "train.py: no function has changed.\n"


def test_without_workers_the_text_waits_for_them(play: Play) -> None:
    client = play.session()
    found = client.request("raydap/reload", **FILE)
    assert found["text"] == "train.py: there is no worker yet; workers that start later get the new code."
    client.inbox.clear()
