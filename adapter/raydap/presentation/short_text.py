"""Text in few characters: shortened values, and places in files."""

import re


def shortened(text: str, longest: int) -> str:
    """Return the text, or its beginning and an ellipsis if it has more characters than `longest`."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def in_one_line(text: str, longest: int) -> str:
    """Return the text, shortened, with a space for each group of spaces and line breaks."""
    return shortened(" ".join(text.split()), longest)


def file_name(path: str) -> str:
    """Return the last part of a path of any operating system."""
    return re.split(r"[/\\]", path)[-1]


def file_line(path: str, line: int) -> str:
    """Return a place such as `train.py:7`."""
    return f"{file_name(path)}:{line}"


def function_line(name: str, path: str, line: int) -> str:
    """Return a place such as `step (train.py:7)`."""
    return f"{name} ({file_line(path, line)})"
