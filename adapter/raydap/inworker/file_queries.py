"""Queries about files, answered in the worker."""

import dis
import os
import sys
import tokenize
from types import CodeType


def job_folders() -> list[str]:
    """Return the current directory, and the folders of `py_modules`.

    Ray unpacks a `working_dir` and runs its workers there. It unpacks each of `py_modules`, or installs it if it is a
    wheel, into a folder that it adds to sys.path (ray/_private/runtime_env/py_modules.py).
    """
    modules = [folder for folder in sys.path if os.path.basename(os.path.dirname(folder)) == "py_modules_files"]
    return [os.getcwd(), *modules]


def copies_of(path: str) -> list[str]:
    """Return for each of job_folders() the file whose path has the longest common end with `path`, or "".

    In the folder of a module this end has at least two parts, because the module is a folder there. Otherwise another
    file of the same name could be taken for the module's file.
    """
    parts = path.replace("\\", "/").split("/")
    found = []
    for number, folder in enumerate(job_folders()):
        copies = (os.path.join(folder, *parts[first:]) for first in range(1, len(parts) - (number > 0)))
        found.append(next(filter(os.path.isfile, copies), ""))
    return found


def source_text(path: str, start: int, count: int) -> str:
    """Return `count` characters of a Python file from `start` on.

    Its BOM or its first lines name the encoding. Raise OSError, SyntaxError for an unknown encoding, or
    UnicodeDecodeError.
    """
    with tokenize.open(path) as file:
        return file.read()[start : start + count]


def code_lines(path: str, first: int, last: int) -> list[int]:
    """Return the sorted numbers of the lines from `first` to `last` that have code.

    The worker's own Python compiles the file, and does not run it. Raise OSError, SyntaxError or ValueError.
    """
    with open(path, "rb") as file:
        codes = [compile(file.read(), path, "exec", dont_inherit=True)]
    lines: set[int] = set()
    for code in codes:
        lines.update(line for _, line in dis.findlinestarts(code) if line and first <= line <= last)
        # The loop continues with the functions and classes inside this code.
        codes.extend(constant for constant in code.co_consts if isinstance(constant, CodeType))
    return sorted(lines)
