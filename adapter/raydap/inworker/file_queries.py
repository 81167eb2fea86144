"""What a worker knows about files. calls.py sends this file with each question."""

import dis
import json
import os
import sys
import tokenize
from collections.abc import Callable
from types import CodeType


class RaydapResult(Exception):
    """Not an error: its text is a result."""


def answer(query: Callable[..., object], *arguments: object) -> str:
    """The JSON of what one of the functions below gives; an evaluate shows a string as it is.

    debugpy before 1.8.22 answers an evaluate without a frame by an empty result, and prints what it gives into the
    program's output. But its answer contains the text of an exception, so there the result is raised.
    """
    from _pydevd_bundle.pydevd_comm import internal_evaluate_expression_json

    text = json.dumps(query(*arguments))
    if "exec_result" in internal_evaluate_expression_json.__code__.co_varnames:
        return text
    raise RaydapResult(text)


def job_folders() -> list[str]:
    """Return the current directory, and the folders of `py_modules`. Ray unpacks a `working_dir` and runs its workers
    there. It unpacks each of `py_modules`, or installs it if it is a wheel, into a folder that it adds to sys.path
    (ray/_private/runtime_env/py_modules.py)."""
    modules = [folder for folder in sys.path if os.path.basename(os.path.dirname(folder)) == "py_modules_files"]
    return [os.getcwd(), *modules]


def copies_of(path: str) -> list[str]:
    """Return for each of job_folders() the file whose path has the longest common end with `path`; "" if there is none.

    A module is a folder in its folder, so there this end has two parts or more: another file of the same name is not
    taken for the module's.
    """
    parts = path.replace("\\", "/").split("/")
    found = []
    for number, folder in enumerate(job_folders()):
        copies = (os.path.join(folder, *parts[first:]) for first in range(1, len(parts) - (number > 0)))
        found.append(next(filter(os.path.isfile, copies), ""))
    return found


def source_text(path: str, start: int, count: int) -> str:
    """A part of a Python file, in characters. Its BOM or its first lines name the encoding.

    Raises OSError, SyntaxError for an unknown encoding, and UnicodeDecodeError.
    """
    with tokenize.open(path) as file:
        return file.read()[start : start + count]


def code_lines(path: str, first: int, last: int) -> list[int]:
    """The sorted numbers of the lines from `first` to `last` that have code.

    The file is compiled by the worker's own Python, and not run. Raises OSError, SyntaxError and ValueError.
    """
    with open(path, "rb") as file:
        codes = [compile(file.read(), path, "exec", dont_inherit=True)]
    lines: set[int] = set()
    for code in codes:
        lines.update(line for _, line in dis.findlinestarts(code) if line and first <= line <= last)
        # The loop goes on with the functions and classes inside this code.
        codes.extend(constant for constant in code.co_consts if isinstance(constant, CodeType))
    return sorted(lines)
