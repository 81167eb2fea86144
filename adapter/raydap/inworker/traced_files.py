"""The program's code in files that pydevd would neither trace nor show; runs in the worker.

- pydevd recognizes the files of the standard library, and its own, by their names (pydevd_dont_trace_files.py).
  Breakpoints in the program's own `queue.py` or `socket.py` had no effect.
- pydevd treats code without a file (`python -c`, `python -`) as a library's when Ray calls it. With `justMyCode`, a
  `breakpoint()` there was skipped.
- pydevd would stop in raydap's own functions that the program calls.
- Where there is no source, pydevd makes one from the bytecode. The user has not written that, so raydap prevents it.
"""

import os
import sys
import threading
from typing import Any

from .replaced_functions import install, original

SOURCES = "_pydevd_bundle.pydevd_api:code_to_bytecode_representation"
"""pydevd's function that makes a source from bytecode."""

LATE = 0x2A0
"""The flags of generators, coroutines and asynchronous generators (CO_GENERATOR and others)."""

_OWN_FILE = (lambda: None).__code__.co_filename
"""The file name of all code of raydap in a process."""


def trace_files_of_program(debugger: Any, shown: list[Any]) -> None:
    """Override pydevd's methods that decide whether to trace and show a file.

    `shown` are the frames that are shown although they are in libraries (post_mortem.py).
    """
    import pydevd

    own = type(debugger)
    roots = library_roots(pydevd.__file__)
    constants = sys.modules.get("_pydevd_bundle.pydevd_constants")
    traces = not getattr(constants, "PYDEVD_USE_SYS_MONITORING", False)

    def _internal_get_file_type(abs_real_path_and_basename: Any) -> Any:
        file_type = own._internal_get_file_type(debugger, abs_real_path_and_basename)
        return None if file_type is None or is_programs(abs_real_path_and_basename, roots) else file_type

    def get_file_type(frame: Any, *args: Any, **kwargs: Any) -> Any:
        if frame.f_code.co_filename == _OWN_FILE:
            return debugger.PYDEV_FILE
        # pydevd's trace function asks this at each call, and ignores the function breakpoints of generators and
        # coroutines. The condition of a step across `.remote()` begins a step then (followed_calls.py, _begin_late).
        code = frame.f_code
        late = traces and getattr(code, "co_flags", 0) & LATE  # pydevd also asks about frames that it has made up.
        found = getattr(debugger, "function_breakpoint_name_to_breakpoint", {}).get(code.co_name) if late else None
        if found is not None and "followed_calls" in str(found.condition):
            debugger.handle_breakpoint_condition(None, found, frame)
        return None if has_no_file(frame) else own.get_file_type(debugger, frame, *args, **kwargs)

    def apply_files_filter(frame: Any, *args: Any, **kwargs: Any) -> Any:
        return (
            frame not in shown and not has_no_file(frame) and own.apply_files_filter(debugger, frame, *args, **kwargs)
        )

    def in_project_scope(frame: Any, *args: Any, **kwargs: Any) -> Any:
        return frame in shown or has_no_file(frame) or own.in_project_scope(debugger, frame, *args, **kwargs)

    def exclude_exception_by_filter(exception_breakpoint: Any, trace: Any) -> Any:
        is_shown = trace is not None and trace.tb_frame in shown
        return not is_shown and own.exclude_exception_by_filter(debugger, exception_breakpoint, trace)

    for function in (_internal_get_file_type, get_file_type, apply_files_filter, in_project_scope):
        install("debugger:" + function.__name__, function, debugger)
    install("debugger:exclude_exception_by_filter", exclude_exception_by_filter, debugger)
    forget_file_types()
    if original(SOURCES) is not None:
        install(SOURCES, lambda *_, **__: None)  # For None pydevd refuses the request.


def forget_file_types() -> None:
    """Clear pydevd's cache of the answers of `get_file_type`."""
    import pydevd

    pydevd._CACHE_FILE_TYPE.clear()


def library_roots(pydevd_file: str) -> tuple[str, ...]:
    """Return the folders of the standard library and of pydevd, each with a separator at its end."""
    folders = [os.path.dirname(file) for file in (os.__file__, threading.__file__, pydevd_file)]
    return tuple(os.path.join(folder, "") for each in folders for folder in (each, os.path.realpath(each)))


def is_programs(paths: Any, roots: tuple[str, ...]) -> bool:
    """Return whether a file is neither in the standard library nor in pydevd.

    `paths` comes from pydevd: the absolute path, the path without links, and the name. Installed packages do not count
    as the standard library, although their folder is inside it.
    """
    for path in paths[:2]:
        root = next((each for each in roots if path.startswith(each)), None)
        if not os.path.isabs(path):
            return False
        if root is not None and not path.startswith((root + "site-packages", root + "dist-packages")):
            return False
    return True


def has_no_file(frame: Any) -> bool:
    """Return whether a frame runs code of `python -c` or of standard input."""
    names, file = frame.f_globals, frame.f_code.co_filename
    without = file in ("<stdin>", "<string>") and names.get("__name__") == "__main__"
    # For a program on standard input, Python sets `__file__` to this name, too. In code that a program generates,
    # `__file__` is the program's own file.
    return without and names.get("__file__", file) == file
