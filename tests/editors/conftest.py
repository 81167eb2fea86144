"""Fixtures of the scenarios, and one listening bridge for all of them."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support.bridge import Bridge
from support.debuggee import Debuggee
from support.editors import EDITORS, Editor, Endpoint, Scripted


@pytest.fixture(params=EDITORS, ids=lambda editor: editor.name)
def editor(request: pytest.FixtureRequest) -> Editor | Scripted:
    kind: type[Editor] | type[Scripted] = request.param
    return kind()


@pytest.fixture(scope="session")
def listening(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Endpoint]:
    """Yield a bridge that outlives its sessions, as `raydap adapter --listen` does."""
    bridge = Bridge.start(tmp_path_factory.mktemp("bridge") / "bridge.log")
    yield Endpoint.listening(bridge.port)
    bridge.end()


@pytest.fixture
def spawned(tmp_path: Path) -> Endpoint:
    """Return a bridge that each client starts for itself, with DAP on stdio."""
    return Endpoint.spawned(tmp_path)


@pytest.fixture
def start_workers(plain_debugpy: Callable[[str], Debuggee]) -> Callable[..., list[Debuggee]]:
    """Return `start_workers(source, ...)`, which starts debugpy processes that wait for a session."""

    def start(*sources: str) -> list[Debuggee]:
        return [plain_debugpy(source) for source in sources]

    return start
