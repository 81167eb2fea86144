"""Checks of the file that a user names as the program."""

import os
import re

_INTERPRETER = re.compile(r"(python|pypy)[0-9.]*")
_ELF = b"\x7fELF"
"""The first bytes of a compiled program (elf(5))."""


def interpreter_named(program: str, folder: str = "") -> str:
    """Return a message for the user if the program is not a file with Python code; else "".

    The message is for a compiled file, and for a name such as `python3` that is not a file in the folder.
    """
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
    return f'"{program}" is not a file with Python code; give only the file (train.py) or the module (-m train)'
