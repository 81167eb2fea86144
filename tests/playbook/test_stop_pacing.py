"""Many stops at once: VS Code receives them as it reads their stacks, every other client at once."""

from typing import Any

import pytest

from raydap.core.workers.stop_pacing import MAX_UNREAD, PATIENCE_S
from support.fake_client import FakeClient
from support.fake_worker import FakeWorker
from support.playbook import VSCODE, Play

MANY = 2 * MAX_UNREAD


def vscode(play: Play) -> FakeClient:
    return play.session(**VSCODE)


def stop_all(play: Play, count: int = MANY) -> list[FakeWorker]:
    workers = play.attached(*(f"w{number}" for number in range(count)))
    for worker in workers:
        worker.stop()
    return workers


def stops(client: FakeClient) -> list[int]:
    """Take all stops from the inbox; return their threads."""
    found = []
    while client.inbox:
        found.append(client.stop()["threadId"])
    return found


def read(client: FakeClient, thread: int) -> dict[str, Any]:
    return client.request("stackTrace", threadId=thread, startFrame=0, levels=1)


def test_a_stop_follows_when_an_earlier_one_is_read(play: Play) -> None:
    client = vscode(play)
    stop_all(play)
    told = stops(client)
    assert len(told) == MAX_UNREAD
    for number in range(MANY):
        read(client, told[number])
        told += stops(client)
    assert len(told) == len(set(told)) == MANY, "each stop is sent once"


def test_every_other_client_is_notified_at_once(play: Play) -> None:
    editor = play.session(clientID="vscode")
    code = play.joined(**VSCODE)
    stop_all(play)
    assert len(stops(editor)) == MANY
    assert len(stops(code)) == MAX_UNREAD
    play.tick(PATIENCE_S)
    stops(code)


def test_threads_lists_the_threads_whose_stops_were_sent(play: Play) -> None:
    client = vscode(play)
    stop_all(play)
    told = stops(client)
    assert [thread["id"] for thread in client.request("threads")["threads"]] == told
    read(client, told[0])
    told += stops(client)
    assert [thread["id"] for thread in client.request("threads")["threads"]] == told
    play.tick(PATIENCE_S)
    stops(client)


def test_a_client_that_reads_no_more_stacks_gets_all_stops(play: Play) -> None:
    client = vscode(play)
    workers = stop_all(play)
    told = stops(client)
    play.tick(PATIENCE_S)
    told += stops(client)
    assert len(set(told)) == MANY
    for worker in workers:
        worker.resume(1)
        client.event("continued")
    for worker in workers:
        worker.stop()
    told = stops(client)
    assert len(told) == MANY, "and from now on at once"
    read(client, told[0])
    for worker in workers:
        worker.resume(1)
        client.event("continued")
    for worker in workers:
        worker.stop()
    assert len(stops(client)) == MAX_UNREAD, "until it reads again"
    play.tick(PATIENCE_S)
    stops(client)


def test_a_stop_waits_no_shorter_after_a_long_time_without_any(play: Play) -> None:
    client = vscode(play)
    play.tick(PATIENCE_S + 1)
    stop_all(play)
    told = stops(client)
    play.tick(PATIENCE_S - 1)
    client.nothing()
    read(client, told[0])
    assert len(stops(client)) == 1
    play.tick(PATIENCE_S)
    stops(client)


def test_a_client_that_reads_slowly_gets_stops_as_slowly(play: Play) -> None:
    client = vscode(play)
    stop_all(play)
    told = stops(client)
    for thread in told[:3]:
        play.tick(PATIENCE_S - 1)
        client.nothing()
        read(client, thread)
        assert len(stops(client)) == 1
    play.tick(PATIENCE_S)
    assert len(stops(client)) == MANY - MAX_UNREAD - 3


@pytest.mark.parametrize("end", ["continue", "exit"])
def test_a_stop_that_is_over_is_never_sent(play: Play, end: str) -> None:
    client = vscode(play)
    workers = stop_all(play)
    told = stops(client)
    for worker in workers[MAX_UNREAD:]:
        if end == "continue":
            worker.resume(1)
        else:
            worker.exit(1)
    client.nothing()
    read(client, told[0])
    client.nothing()


def test_ends_make_room_for_others(play: Play) -> None:
    client = vscode(play)
    workers = stop_all(play)
    stops(client)
    for worker in workers[:MAX_UNREAD]:
        worker.resume(1)
        client.event("continued")
    play.tick(1)
    assert len(stops(client)) == MANY - MAX_UNREAD


def test_the_user_can_go_to_a_stop_that_waits(play: Play) -> None:
    client = vscode(play)
    workers = stop_all(play)
    told = stops(client)
    entries = client.request("raydap/workers")["workers"]
    (last,) = [entry["threads"][0]["threadId"] for entry in entries if entry["key"] == workers[-1].key]
    assert last not in told
    client.request("raydap/focus", threadId=last)
    stop = client.stop()
    assert (stop["threadId"], stop["preserveFocusHint"]) == (last, False)
    play.tick(PATIENCE_S)
    assert last not in stops(client)
