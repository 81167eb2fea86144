"""The language servers of these tests find no session of other tests."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _no_sessions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
