"""Short text: shortened values, and places in files."""

import re


def shortened(text: str, longest: int) -> str:
    """Return the text; if it has more than `longest` characters, return its beginning and an ellipsis."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def in_one_line(text: str, longest: int) -> str:
    """Return the text, with one space for each run of white space, shortened to `longest` characters."""
    return shortened(" ".join(text.split()), longest)


def file_name(path: str) -> str:
    """Return the last part of a path, with the separators of any operating system."""
    return re.split(r"[/\\]", path)[-1]


def file_line(path: str, line: int) -> str:
    """Return a place such as `train.py:7`."""
    return f"{file_name(path)}:{line}"


def function_line(name: str, path: str, line: int) -> str:
    """Return a place such as `step (train.py:7)`."""
    return f"{name} ({file_line(path, line)})"


def first_line(text: str) -> str:
    """Return the first line of a text that is not blank, shortened to 200 characters."""
    return shortened(text.strip().partition("\n")[0], 200)
