"""The function, file and line of a worker's frame."""

from typing import Any

import pytest

from raydap.core.translate import stacks


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        ({"name": "step", "source": {"path": "/app/train.py"}, "line": 7}, ("step", "/app/train.py", 7)),
        # debugpy marks the frame of an exception so.
        ({"name": "step (Current frame)", "source": {"name": "x"}, "line": 7}, ("step", "x", 7)),
        ({"source": "nonsense", "line": "seven"}, ("", "", 0)),
    ],
)
def test_a_location_is_that_of_the_users_code(frame: dict[str, Any], expected: tuple[str, str, int]) -> None:
    assert stacks.location(frame) == expected
