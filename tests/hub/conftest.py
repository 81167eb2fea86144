"""Shared fixtures of the tests of hubs."""

import os
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest
from dap_client import Client

from support.bridge import Hub
from support.conformance import validate


@pytest.fixture
def start_hub(children: ExitStack, tmp_path: Path) -> Callable[..., Hub]:
    """Return `start_hub(*options)`, which starts a hub. The test fails if the hub dies or prints a traceback."""

    def start(*options: str) -> Hub:
        hub = Hub.start(tmp_path / f"hub{len(list(tmp_path.glob('hub*.log')))}.log", *options)
        children.callback(hub.end)
        return hub

    return start


@pytest.fixture
def hub(start_hub: Callable[..., Hub]) -> Hub:
    return start_hub()


@pytest.fixture
def token_file(tmp_path: Path) -> Path:
    path = tmp_path / "token"
    path.touch(0o600)
    path.write_text("a-token-of-the-test\n")
    return path


@pytest.fixture
def adapter(children: ExitStack) -> Callable[..., Client]:
    """Return `adapter(*arguments, log=..., **env)`, which starts `raydap connect` and returns a client of it."""

    def start(*arguments: str, log: Path | None = None, **env: str) -> Client:
        stderr = children.enter_context(log.open("wb")) if log is not None else None
        command = [sys.executable, "-m", "raydap", "connect", *arguments]
        client = Client.spawn(command, stderr=stderr, env={**os.environ, **env})

        def conforms() -> None:
            for message in client.received:
                validate(message)

        children.callback(conforms)
        return children.enter_context(client)

    return start
