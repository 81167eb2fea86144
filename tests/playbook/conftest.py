import random
from collections.abc import Iterator

import pytest

from raydap.core import bridge
from support.playbook import Play
from support.waiting_workers import Hung


@pytest.fixture
def play() -> Iterator[Play]:
    """A session to be scripted; at its end everything has to be accounted for, and nothing may be left."""
    play = Play()
    yield play
    play.finish()


@pytest.fixture
def rough_play() -> Iterator[Play]:
    """The same for scripts whose workers or clients send what is no DAP, which the bridge may pass on as it is."""
    play = Play(conform=False)
    yield play
    play.finish()


@pytest.fixture
def hung(play: Play) -> Hung:
    """A session with workers that wait."""
    return Hung(play)


@pytest.fixture(autouse=True)
def shuffled_steps(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The steps of a tick and of an event are done in an order that differs from test to test, and is the same in each
    run of a test."""
    chance = random.Random(request.node.nodeid)
    for name in ("TICK_STEPS", "EVENT_STEPS"):
        steps = getattr(bridge, name)
        monkeypatch.setattr(bridge, name, tuple(chance.sample(steps, len(steps))))
