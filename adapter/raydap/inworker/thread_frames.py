"""The frames of all threads; runs in workers and drivers."""

import gc
import sys
import threading
from types import FrameType


def current_frames() -> "dict[int, FrameType]":
    """Like `sys._current_frames`, without its deadlock before Python 3.12: it holds a lock of the interpreter while it
    makes objects, and a garbage collection that begins then may free a `threading.local`, which takes the same lock.
    The process would hang for ever (python/cpython#106883)."""
    collects = gc.isenabled()
    gc.disable()
    try:
        frames = sys._current_frames()
    finally:
        if collects:
            gc.enable()
    return {**frames, threading.get_ident(): sys._getframe(1)}
