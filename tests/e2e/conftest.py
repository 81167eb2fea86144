"""What the tests without Ray share."""

import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest
from local_cluster import Child


@pytest.fixture
def run_command(children: ExitStack, tmp_path: Path) -> Callable[..., Child]:
    """`run_command(*options)` starts `raydap adapter` with options that should not let it come to run."""

    def run(*options: str) -> Child:
        command = [sys.executable, "-m", "raydap", "adapter", *options]
        return children.enter_context(Child(command, tmp_path / "command.log"))

    return run
