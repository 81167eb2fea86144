from collections.abc import Iterator

import pytest

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
