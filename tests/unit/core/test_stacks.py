from typing import Any

import pytest

from raydap.core.translate.stacks import mark_stack


@pytest.mark.parametrize(
    ("path", "subtle"),
    [
        ("/app/train.py", False),
        ("/home/me/ray/train.py", False),
        ("/app/my_debugpy/x.py", False),
        ("/venv/lib/python3.11/site-packages/ray/train/trainer.py", False),
        ("/venv/lib/python3.11/site-packages/ray/_private/workers/default_worker.py", True),
        ("/venv/lib/python3.11/site-packages/ray/_private/worker.py", True),
        ("/venv/lib/python3.11/site-packages/ray/util/tracing/tracing_helper.py", True),
        ("/venv/lib/python3.11/site-packages/ray/util/debugpy.py", True),
        ("/venv/lib/python3.11/site-packages/ray/util/rpdb.py", True),
        ("C:\\venv\\site-packages\\ray\\_private\\worker.py", True),
        ("python/ray/_raylet.pyx", True),
        ("/venv/debugpy/_vendored/pydevd/pydevd.py", True),
    ],
)
def test_the_frames_of_ray_and_debugpy_are_subtle(path: str, subtle: bool) -> None:
    stack: dict[str, Any] = {"stackFrames": [{"id": 1, "source": {"path": path}}]}
    mark_stack(stack, {})
    assert stack["stackFrames"][0].get("presentationHint") == ("subtle" if subtle else None)


@pytest.mark.parametrize(
    ("path", "hint", "subtle"),
    [
        ("/venv/lib/python3.11/site-packages/ray/_private/function_manager.py", None, False),
        ("/venv/lib/python3.11/site-packages/ray/_private/function_manager.py", "subtle", True),
        ("/venv/lib/python3.11/site-packages/json/decoder.py", None, False),
        ("python/ray/_raylet.pyx", None, True),
    ],
)
def test_debugpy_says_which_frames_of_an_exception_are_subtle(path: str, hint: str | None, subtle: bool) -> None:
    frame: dict[str, Any] = {"id": 1, "source": {"path": path}, **({"presentationHint": hint} if hint else {})}
    mark_stack({"stackFrames": [frame]}, {}, raised=True)
    assert frame.get("presentationHint") == ("subtle" if subtle else None)


@pytest.mark.parametrize("frames", [None, 5, True, "ab", {}, [None, 7, {}, {"source": 1}, {"source": {"path": 3}}]])
def test_any_stack_is_left_alone(frames: Any) -> None:
    stack = {"stackFrames": frames}
    mark_stack(stack, {})
    assert stack == {"stackFrames": frames}
    mark_stack({}, {})
