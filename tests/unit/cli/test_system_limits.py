"""A limit of the system is reported before it makes a result incomplete."""

import os
import resource
import sys
from pathlib import Path

import pytest

from raydap.cli import system_limits
from raydap.cluster.injection import gdb_injection
from raydap.cluster.injection.gdb_injection import CAP_SYS_PTRACE, has_capability


@pytest.mark.parametrize(
    ("limit", "named"), [(12, True), (63, True), (64, False), (1024, False), (resource.RLIM_INFINITY, False)]
)
def test_few_descriptors(monkeypatch: pytest.MonkeyPatch, limit: int, named: bool) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (limit, resource.RLIM_INFINITY))
    texts = [text for text in system_limits.warnings() if "files and sockets" in text]
    assert len(texts) == named
    assert all(f"only {limit} files" in text for text in texts)


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
def test_no_proc(tmp_path: Path) -> None:
    assert [text for text in system_limits.warnings(str(tmp_path)) if text.startswith("/proc is not mounted")]
    assert not [text for text in system_limits.warnings() if text.startswith("/proc")]


def test_where_capabilities_cannot_be_read_none_is_assumed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getpid", lambda: -1)  # /proc has no such file.
    assert gdb_injection._status(-1) == {}
    assert not has_capability(CAP_SYS_PTRACE)
