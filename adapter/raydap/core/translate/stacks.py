"""Distinguishes the user's frames of a stack from those of Ray and debugpy around them."""

import re
from collections.abc import Mapping
from functools import lru_cache

from raydap.protocol import messages

_COMPILED = r"_raylet\.p(yx|y)"
_LIBRARIES = re.compile(
    r"[/\\]ray[/\\](_private|util[/\\](tracing|debugpy\.py|rpdb\.py)|actor\.py|remote_function\.py)"
    rf"|{_COMPILED}|[/\\]debugpy[/\\]|[/\\]_?pydevd"
)
"""Files of Ray and debugpy with frames between a worker's start and the user's code, or above `breakpoint()`."""


def frames_of(stack: Mapping[str, object]) -> list[dict[str, object]]:
    """Return the frames in a stackTrace answer of a worker, which can send anything."""
    frames = stack.get("stackFrames")
    return [frame for frame in frames if isinstance(frame, dict)] if isinstance(frames, list) else []


def mark_stack(body: dict[str, object], sources: dict[str, messages.Source], raised: bool = False) -> list[str]:
    """Mark Ray's and debugpy's own frames in a stackTrace answer, so that editors show and focus the user's.

    `raised`: the thread has stopped for an exception. Then Ray's Python frames keep the hint from debugpy, which marks
    them, too, unless the exception has no other frames (inworker/post_mortem.py).

    `sources` collects the files that are shown, without those that exist in one worker only (sourceReference). Return
    the paths that are new.
    """
    new = []
    for frame in frames_of(body):
        if isinstance(source := frame.get("source"), dict) and isinstance(path := source.get("path"), str):
            if re.search(_COMPILED, path) if raised else _is_library(path):
                frame["presentationHint"] = "subtle"
            if path not in sources and not source.get("sourceReference"):
                sources[path] = {"name": re.split(r"[/\\]", path)[-1], "path": path}
                new.append(path)
    return new


def is_library_frame(frame: Mapping[str, object]) -> bool:
    """Return whether a frame belongs to one of the files of Ray and debugpy in `_LIBRARIES`."""
    source = frame.get("source")
    path = source.get("path") if isinstance(source, dict) else None
    return isinstance(path, str) and _is_library(path)


@lru_cache(maxsize=4096)  # The same few files are in every stack.
def _is_library(path: str) -> bool:
    return _LIBRARIES.search(path) is not None


def location(frame: dict[str, object]) -> tuple[str, str, int]:
    """Return the function, the file and the line of a frame, for which a worker can send values of any type."""
    source, line = frame.get("source"), frame.get("line")
    path = (source.get("path") or source.get("name")) if isinstance(source, dict) else None
    # debugpy adds this to the frame where it shows an exception.
    name = str(frame.get("name", "")).removesuffix(" (Current frame)")
    return name, str(path or ""), line if type(line) is int else 0
