"""The files that users name as programs."""

import os
import re

_INTERPRETER = re.compile(r"(python|pypy)[0-9.]*")
_ELF = b"\x7fELF"
"""The beginning of a file that the system runs by itself."""


def interpreter_named(program: str, folder: str = "") -> str:
    """Return a sentence for the user if the program is an interpreter, or another compiled program, and so no file that
    Python can run; else ""."""
    path = os.path.join(folder, program)
    if os.path.isfile(path):
        try:
            with open(path, "rb") as file:
                is_compiled = file.read(len(_ELF)) == _ELF
        except OSError:
            return ""
    else:
        is_compiled = not os.path.exists(path) and _INTERPRETER.fullmatch(os.path.basename(program)) is not None
    if not is_compiled:
        return ""
    return f'"{program}" is not a file with Python code; name the file (train.py) or the module (-m train) alone'
