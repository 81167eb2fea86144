"""Shared fixtures of the tests without Ray."""

import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest
from local_cluster import Child


@pytest.fixture
def run_command(children: ExitStack, tmp_path: Path) -> Callable[..., Child]:
    """Return `run_command(*options)`, which starts `raydap adapter` with options that should prevent its start."""

    def run(*options: str) -> Child:
        command = [sys.executable, "-m", "raydap", "adapter", *options]
        return children.enter_context(Child(command, tmp_path / "command.log"))

    return run
