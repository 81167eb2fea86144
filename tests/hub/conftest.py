"""What the tests of a hub share."""

import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest
from dap_client import Client

from support.bridge import Hub


@pytest.fixture
def start_hub(children: ExitStack, tmp_path: Path) -> Callable[..., Hub]:
    """`start_hub(*options)` starts `raydap serve`; the test fails if it dies or prints a traceback."""

    def start(*options: str) -> Hub:
        hub = Hub.start(tmp_path / f"hub{len(list(tmp_path.glob('hub*.log')))}.log", *options)
        children.callback(hub.end)
        return hub

    return start


@pytest.fixture
def hub(start_hub: Callable[..., Hub]) -> Hub:
    return start_hub()


@pytest.fixture
def connect_by_command(children: ExitStack, tmp_path: Path) -> Callable[[Hub], Client]:
    """`connect_by_command(hub)` runs `raydap connect`, as editors do that only start programs."""

    def connect(hub: Hub) -> Client:
        token = tmp_path / "token"
        token.touch(0o600)
        token.write_text(f"{hub.token}\n")
        command = [sys.executable, "-m", "raydap", "connect", hub.url, "--token-file", str(token)]
        return children.enter_context(Client.spawn(command))

    return connect
