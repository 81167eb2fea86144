"""Whole sessions against their transcripts, and the fake worker against the real debugpy (support/golden.py)."""

import json
from typing import Any

import pytest

from support.golden import DEBUGPY, FOLDER, SESSIONS, imitate_debugpy, transcript


@pytest.mark.parametrize("name", SESSIONS)
def test_a_session_is_as_its_transcript(name: str) -> None:
    assert transcript(name) == (FOLDER / f"{name}.txt").read_text(encoding="utf-8")


def test_there_is_no_transcript_without_a_session() -> None:
    assert {path.stem for path in FOLDER.glob("*.txt")} == set(SESSIONS)


def heading(message: dict[str, Any]) -> tuple[str, str, bool]:
    return message["type"], message.get("event") or message["command"], message.get("success", True)


def headings(messages: list[dict[str, Any]]) -> list[tuple[str, str, bool]]:
    """Return the headings of messages, sorted up to `initialized`.

    Until then debugpy's adapter sends from several threads in any order; later from one. Events about other threads and
    the module `threading` are dropped, because the fake worker does not have them.
    """
    all_ = [heading(message) for message in messages if message.get("event") not in ("thread", "module")]
    begin = all_.index(("event", "initialized", True))
    return sorted(all_[:begin]) + all_[begin:]


def test_the_fake_worker_says_what_debugpy_says_in_the_same_order() -> None:
    recorded = [json.loads(line) for line in DEBUGPY.read_text(encoding="utf-8").splitlines()]
    said = imitate_debugpy().said
    assert headings(said) == headings(recorded)


def test_the_fake_worker_invents_no_fields() -> None:
    real: dict[tuple[str, str, bool], set[str]] = {}
    for line in DEBUGPY.read_text(encoding="utf-8").splitlines():
        message = json.loads(line)
        real.setdefault(heading(message), {"origin"}).update(message.get("body") or {})
    for message in imitate_debugpy().said:
        assert set(message.get("body") or {}) <= real[heading(message)], heading(message)
