"""What the tests without Ray share."""

import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest
from local_cluster import Child

OLDEST = "1.8.0"


@pytest.fixture
def run_command(children: ExitStack, tmp_path: Path) -> Callable[..., Child]:
    """`run_command(*options)` starts `raydap adapter` with options that should not let it come to run."""

    def run(*options: str) -> Child:
        command = [sys.executable, "-m", "raydap", "adapter", *options]
        return children.enter_context(Child(command, tmp_path / "command.log"))

    return run


@pytest.fixture(scope="session", params=["newest", OLDEST])
def packages(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path | None:
    """Where another debugpy is installed than the one of this environment; None for that one."""
    if request.param == "newest":
        return None
    folder = tmp_path_factory.mktemp("debugpy")
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*install, "--target", str(folder), f"debugpy=={request.param}"], check=True, timeout=120)
    return folder
