from typing import Any

import pytest

from raydap.core.model.barrier_terms import BarrierTerms, of_breakpoint


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("all", BarrierTerms()),
        (" ALL ", BarrierTerms()),
        ("all 16", BarrierTerms(16)),
        ("all 60s", BarrierTerms(seconds=60)),
        ("all 1.5s", BarrierTerms(seconds=1.5)),
        ("all 2min", BarrierTerms(seconds=120)),
        ("all 16 60s", BarrierTerms(16, 60)),
        ("all 60s 16", BarrierTerms(16, 60)),
        *[(text, None) for text in ("", "5", ">= 3", "% 2", "allow", "10 all", None, 5)],
    ],
)
def test_terms(text: Any, expected: BarrierTerms | None) -> None:
    assert of_breakpoint({"line": 7, "hitCondition": text}) == expected


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("all of them", "of"),
        ("all 16 17", "17"),
        ("all 5s 6s", "6s"),
        ("all 0", "0"),
        ("all 0s", "0s"),
        ("all -1", "-1"),
        ("all 5 s", "s"),
        ("all 9999999", "9999999"),
        ("all \N{ARABIC-INDIC DIGIT ONE}", "\N{ARABIC-INDIC DIGIT ONE}"),
    ],
)
def test_what_is_wrong_is_named(text: str, word: str) -> None:
    with pytest.raises(ValueError, match="A barrier is `all`") as error:
        of_breakpoint({"line": 7, "hitCondition": text})
    assert f"`{word}`" in str(error.value)


def test_a_logpoint_is_none() -> None:
    with pytest.raises(ValueError, match="logpoint"):
        of_breakpoint({"line": 7, "hitCondition": "all", "logMessage": "x"})
