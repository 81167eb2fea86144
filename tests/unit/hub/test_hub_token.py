"""Tokens: their form, the clients that they admit, and the delay after a wrong one."""

import asyncio
from pathlib import Path

import pytest

from raydap.hub import hub_token
from raydap.hub.hub_token import TokenError, TokenVerifier


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "to ken"
    path.touch(mode=0o600)
    return path


def test_tokens_are_long_differ_and_can_be_sent() -> None:
    made = {hub_token.new() for _ in range(100)}
    assert len(made) == 100
    assert all(len(token) >= 43 and hub_token.is_sendable(token) for token in made)


def test_a_digest_is_sha_256_in_hex() -> None:
    assert hub_token.digest("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert hub_token.is_digest(hub_token.digest("abc"))
    for other in ("", "abc", "A" * 64, "g" * 64, "0" * 63, "0" * 65):
        assert not hub_token.is_digest(other)


def test_the_first_line_of_a_token_file_is_the_token(file: Path) -> None:
    file.write_text("  the-token \nnot this\n")
    assert hub_token.read(str(file)) == "the-token"


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602])
def test_a_file_that_others_can_touch_is_refused_with_the_command_that_helps(file: Path, mode: int) -> None:
    file.write_text("the-token\n")
    file.chmod(mode)
    with pytest.raises(TokenError) as refused:
        hub_token.read(str(file))
    assert str(refused.value).endswith(f"run: chmod 600 '{file}'")
    assert "the-token" not in str(refused.value)


@pytest.mark.parametrize(
    ("content", "told"), [(b"", "is empty"), (b"\nx\n", "is empty"), ("tökén".encode(), "header"), (b"a b", "header")]
)
def test_a_file_without_a_token_is_refused(file: Path, content: bytes, told: str) -> None:
    file.write_bytes(content)
    with pytest.raises(TokenError, match=told):
        hub_token.read(str(file))


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "none", tmp_path):
        with pytest.raises(TokenError, match="cannot be read"):
            hub_token.read(str(path))


def test_only_the_right_token_is_accepted() -> None:
    verifier = TokenVerifier(hub_token.digest("right"))
    assert verifier.accepts("right")
    for wrong in (None, "", "righ", "right ", "Right", hub_token.digest("right"), "\udc80", "ö"):
        assert not verifier.accepts(wrong)
    assert not TokenVerifier(hub_token.digest("")).accepts("")
    assert verifier.token_required


def test_without_a_digest_every_client_is_admitted() -> None:
    assert TokenVerifier(None).accepts(None)
    assert TokenVerifier(None).accepts("any")
    assert not TokenVerifier(None).token_required


def test_delays_double_up_to_five_seconds_and_end_with_a_success(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    async def main() -> None:
        verifier = TokenVerifier(hub_token.digest("right"))
        for _ in range(8):
            verifier.accepts("wrong")
            await verifier.delay_refusal()
        for _ in range(10_000):
            verifier.accepts("wrong")
        await verifier.delay_refusal()
        verifier.accepts("right")
        verifier.accepts("wrong")
        await verifier.delay_refusal()

    monkeypatch.setattr(asyncio, "sleep", sleep)
    asyncio.run(main())
    assert slept == pytest.approx([0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5, 5, 5, 0.1])
