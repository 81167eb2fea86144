"""Commands in the debug console (docs/usage/sets.md)."""

import pytest

from raydap.errors import Code
from support.fake_client import FakeClient
from support.fake_worker import FakeWorker
from support.playbook import Play


def stopped(play: Play, client: FakeClient, *keys: str) -> list[FakeWorker]:
    """Attach and stop workers, the last one in another file."""
    workers = play.attached(*keys)
    workers[-1].path = "/app/other.py"
    for worker in workers:
        worker.stop()
        client.stop()
    return workers


def said(client: FakeClient, text: str) -> list[str]:
    answer = client.request("evaluate", expression=text, context="repl")
    assert answer["variablesReference"] == 0
    return str(answer["result"]).splitlines()


def test_stacks_are_a_tree(play: Play) -> None:
    client = play.session()
    stopped(play, client, "w1", "w2", "w3")
    assert said(client, "/stacks") == [
        "3 stopped              worker (3)",
        "  1 step (other.py:7)  worker 103",
        "  2 step (train.py:7)  worker (2)",
    ]
    (first, *_), (second, *_) = said(client, "/stacks line:other.py"), said(client, " /in line:other.py /stacks")
    assert first.split() == second.split() == ["1", "stopped", "worker", "103"]


def test_stacks_have_the_variables_where_they_end(play: Play) -> None:
    client = play.session()
    workers = stopped(play, client, "w1", "w2", "w3")
    workers[0].locals = [{"name": "loss", "value": "nan", "type": "float"}]
    workers[2].locals = [{"name": "step", "value": f"'{'x' * 100}'", "type": "str"}]
    assert said(client, "/locals") == [
        "3 stopped              worker (3)",
        "  1 step (other.py:7)  worker 103",
        f"      step = '{'x' * 58}…",
        "  2 step (train.py:7)  worker (2)",
        "      loss = nan       worker 101",
        "      loss = 0.5       worker 102",
    ]
    assert said(client, "/locals line:other.py")[0].split() == ["1", "stopped", "worker", "103"]


def test_values_are_compared(play: Play) -> None:
    client = play.session()
    workers = stopped(play, client, "w1", "w2", "w3")
    for worker, text in zip(workers, ("0.5", "nan", "0.5"), strict=True):
        worker.values = {"loss": {"type": "float", "text": text, "hash": text}}
    assert said(client, "/in pid:101,102,103 /compare loss") == [
        "nan  1  worker 102",
        "0.5  2  worker (2)",
        "min 0.5  max 0.5  mean 0.5  std 0  1 nan",
    ]


def test_values_are_kept_and_compared_with(play: Play) -> None:
    client = play.session()
    workers = stopped(play, client, "w1", "w2")
    assert said(client, "/keep before step")[-1] == "'step of w2'  1  worker 102"
    workers[0].values = {"step": {"type": "str", "text": "'new'", "hash": "new"}}
    lines = said(client, "/since before step")
    assert lines[0] == "'new'         1  worker 101  is 'new' instead of 'step of w2'"
    assert lines[2:] == ["changed    1  worker 101", "unchanged  1  worker 102"]


def test_silent_threads_are_counted(play: Play) -> None:
    client = play.session()
    workers = stopped(play, client, "w1", "w2")
    workers[0].hold = {"stackTrace"}
    request = client.send("evaluate", expression="/compare loss", context="repl")
    play.tick(6)
    assert str(client.answer(request)["result"]).splitlines() == ["'loss of w2'  1  worker 102", "1 did not answer"]


def test_all_threads_at_a_line_step_and_their_places_are_printed(play: Play) -> None:
    client = play.session()
    workers = stopped(play, client, "w1", "w2", "w3")
    request = client.send("evaluate", expression="/step", context="repl")
    for _ in range(2):
        client.event("continued")
    workers[0].path = "/app/branch.py"
    workers[0].stop(reason="step")
    client.stop()
    play.tick(6)
    assert str(client.answer(request)["result"]).splitlines() == [
        "1  step (branch.py:7)  worker 101",
        "1 still running",
    ]
    workers[1].stop(reason="step")
    client.stop()
    request = client.send("evaluate", expression="/in pid:102 /continue", context="repl")
    client.event("continued")
    assert client.answer(request)["result"] == "1 resumed."


def test_sets_are_kept_and_dropped(play: Play) -> None:
    client = play.session()
    stopped(play, client, "w1", "w2")
    assert said(client, "/sets") == ["There are no named sets."]
    assert said(client, "/sets slow pid:102") == ["slow: pid:102"]
    assert said(client, "/stacks set:slow")[0].split() == ["1", "stopped", "worker", "102"]
    assert said(client, "/sets -slow") == ["There are no named sets."]


def test_help_and_no_stopped_thread(play: Play) -> None:
    client = play.session()
    assert said(client, "/help")[-1].startswith("/help ")
    assert said(client, "/compare x") == ["No thread is stopped."]
    assert said(client, "/stacks") == ["0 stopped"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/stack", "There is no command /stack: did you mean /stacks?"),
        ("/", "There is no command /: /help lists them."),
        ("/in rank:1", "There is no command /in: /help lists them."),
        ("/compare", "Give an expression, for example: /compare loss."),
        ("/stacks pid:x", 'at "pid:x" (character 1)'),
        ("/in pid:1 /stacks pid:2", "Name the set once"),
        ("/keep before", "Give a name and an expression, for example: /keep before loss."),
        ("/since before loss", 'No values are kept as "before" (none is kept)'),
        ("/step 3", "Select a stopped worker"),
        ("/in pid:1 /continue pid:2", "Name the set once: /in SET /continue"),
        ("/sets slow", "Give a set, for example: /sets slow actor:Trainer."),
    ],
)
def test_wrong_commands_are_named(play: Play, text: str, expected: str) -> None:
    client = play.session()
    stopped(play, client, "w1")
    assert expected in client.refused(Code.BAD_ARGUMENT, "evaluate", expression=text, context="repl")


def test_other_expressions_go_to_the_worker(play: Play) -> None:
    client = play.session()
    stopped(play, client, "w1")
    assert client.request("evaluate", expression="/help", context="watch")["result"] == "/help of w1"
    assert client.request("evaluate", expression="x / 2", context="repl")["result"] == "x / 2 of w1"
