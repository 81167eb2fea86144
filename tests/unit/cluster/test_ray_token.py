"""The sources of Ray's token, in Ray's order."""

from pathlib import Path

import pytest

from raydap.cluster.dashboard import ray_token


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / ".ray").mkdir()
    (tmp_path / ".ray" / "auth_token").write_text(" of-home\n")
    return tmp_path


def test_the_variable_comes_first(home: Path) -> None:
    path = home / ".ray" / "auth_token"
    environ = {"RAY_AUTH_TOKEN": " direct ", "RAY_AUTH_TOKEN_PATH": str(path), "HOME": str(home)}
    assert ray_token.find(environ) == "direct"


def test_then_the_named_file(home: Path) -> None:
    (home / "named").write_text("of-file\n")
    assert ray_token.find({"RAY_AUTH_TOKEN_PATH": str(home / "named"), "HOME": str(home)}) == "of-file"


def test_then_the_file_at_home(home: Path) -> None:
    assert ray_token.find({"HOME": str(home)}) == "of-home"


@pytest.mark.parametrize("content", [b"", b"\n", b"two\nlines", b"\xff\xfe", "tökén".encode()])
def test_what_is_no_token_is_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "file").write_bytes(content)
    assert ray_token.find({"RAY_AUTH_TOKEN_PATH": str(tmp_path / "file")}) is None


def test_a_missing_file_is_none(tmp_path: Path) -> None:
    assert ray_token.find({"HOME": str(tmp_path)}) is None


def test_only_ray_s_own_setting_asks_for_the_token() -> None:
    assert ray_token.wanted({"RAY_AUTH_MODE": "Token"})
    assert not ray_token.wanted({"RAY_AUTH_MODE": "disabled"})
    assert not ray_token.wanted({})
