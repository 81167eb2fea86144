"""Output that workers print through debugpy, and the worker that it is attributed to."""

from support.fake_client import FakeClient
from support.fake_worker import FakeWorker
from support.playbook import Play


def test_the_name_stands_before_lines_and_not_before_their_parts(play: Play) -> None:
    client = play.session()
    one, other = play.attached("w1", "w2")

    def printed(worker: FakeWorker, text: str) -> str:
        worker.say("output", {"category": "stdout", "output": text})
        return _output(client)

    assert [printed(one, text) for text in ("loss", " ", "0.5", "\n")] == ["[worker 101] loss", " ", "0.5", "\n"]
    assert printed(one, "a whole line\n") == "[worker 101] a whole line\n"
    assert printed(one, "half of it") == "[worker 101] half of it"
    assert printed(other, "in between\n") == "\n[worker 102] in between\n"
    assert printed(one, ", the rest\n") == "[worker 101] , the rest\n"
    assert printed(one, "\n") == "\n"


def _output(client: FakeClient) -> str:
    text: str = client.event("output")["output"]
    return text
