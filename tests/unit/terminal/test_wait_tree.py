"""`raydap hang` for a set without workers."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec
import pytest

from raydap.client.joining import SessionTarget
from raydap.protocol.raydap_messages import SelectedWorkers
from raydap.protocol.wait_messages import WaitGraph
from raydap.terminal import wait_tree
from support.scripted_session import ScriptedLive
from unit.terminal.made_up_pdbs import entry

NOTHING = WaitGraph(
    nodes=(), roots=(), deadlocks=(), collectives=(), unread=(), idle=1, problem="", lines=(), text="1 idle"
)


@pytest.mark.parametrize("is_wrong", [True, False])
def test_a_set_without_workers_is_an_error(
    is_wrong: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen = SelectedWorkers(workers=() if is_wrong else ("a",))
    trainer = msgspec.structs.replace(entry("a"), actor="Trainer", title="Trainer 2")
    live = ScriptedLive(trainer, raydap__waits=NOTHING, raydap__select=chosen)

    @asynccontextmanager
    async def answering(_: object, following: str) -> AsyncIterator[ScriptedLive]:
        yield live

    monkeypatch.setattr(wait_tree, "answering", answering)
    assert asyncio.run(wait_tree.show(SessionTarget(), "actor:Trainr", False)) == (3 if is_wrong else 0)
    shown = capsys.readouterr()
    if is_wrong:
        assert (shown.out, shown.err) == ("", "No worker is in the set actor:Trainr. There are: Trainer 2.\n")
    else:
        assert (shown.out, shown.err) == ("1 idle\n", "")
