"""What the tests of the expressions share."""

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from support.debuggee import Debuggee
from support.entered import EnteredWorker

Start = Callable[..., tuple[EnteredWorker, Debuggee]]


@pytest.fixture
def start(plain_debugpy: Callable[..., Debuggee], packages: Path | None, children: ExitStack) -> Start:
    """`start(source, **how)` runs a program and attaches to it; `how` is what EnteredWorker.attach takes."""

    def start(source: str, **how: Any) -> tuple[EnteredWorker, Debuggee]:
        debuggee = plain_debugpy(source, packages)
        worker = EnteredWorker.attach(debuggee.host, debuggee.port, debuggee.path, children, **how)
        return worker, debuggee

    return start
