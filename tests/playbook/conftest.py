import random
from collections.abc import Iterator

import pytest

from raydap.core import bridge
from support.playbook import Play
from support.waiting_workers import Hung


@pytest.fixture
def play() -> Iterator[Play]:
    """Yield a session to script. At its end, every message must be accounted for, and no state may be left."""
    play = Play()
    yield play
    play.finish()


@pytest.fixture
def rough_play() -> Iterator[Play]:
    """Yield a session for scripts that send invalid DAP, which the bridge may forward unchanged."""
    play = Play(conform=False)
    yield play
    play.finish()


@pytest.fixture
def hung(play: Play) -> Hung:
    """Return a session with workers that wait."""
    return Hung(play)


@pytest.fixture(autouse=True)
def shuffled_steps(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Shuffle the steps of a tick and of an event. The order depends on the test's name only."""
    chance = random.Random(request.node.nodeid)
    for name in ("TICK_STEPS", "EVENT_STEPS"):
        steps = getattr(bridge, name)
        monkeypatch.setattr(bridge, name, tuple(chance.sample(steps, len(steps))))
