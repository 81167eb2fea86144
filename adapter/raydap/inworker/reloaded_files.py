"""The new text of files of which the machine has an older copy; runs in the worker.

Ray unpacks a job's working_dir on each node, and raydap does not change these copies: another job may use them. So a
module that is imported later from such a copy gets the new text here, and tracebacks and breakpoints use its lines.
"""

import dis
import linecache
import os
import sys
import tokenize
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType
from typing import Any

from .replaced_functions import install, original

LINES = "_pydevd_bundle.pydevd_api:_get_code_lines"
"""pydevd's function that returns the lines of a file that have code, to which it moves breakpoints."""


def use_new_text(paths: list[str], text: str) -> None:
    """Use this text for the files at these paths whose own text is another one."""
    for path in dict.fromkeys(paths):
        try:
            with tokenize.open(path) as file:
                is_old = file.read() != text.replace("\r\n", "\n")
        except FileNotFoundError:
            is_old = True
        except (OSError, SyntaxError, ValueError):
            continue
        finder = _finder(create=is_old)
        if is_old:
            finder.raydap_texts[path] = text
            # linecache checks no entry without a time.
            linecache.cache[path] = (len(text), None, [line + "\n" for line in text.splitlines()], path)
        else:
            if finder is not None:
                finder.raydap_texts.pop(path, None)
            linecache.cache.pop(path, None)
    _use_new_lines()


def _finder(create: bool) -> Any:
    """Return the finder of this process, also that of another version of raydap. Create it if there is none."""
    found = next((each for each in sys.meta_path if hasattr(each, "raydap_texts")), None)
    if found is None and create:
        found = _ReloadedFinder()
        sys.meta_path.insert(0, found)
    return found


class _ReloadedFinder:
    """Finds the modules whose file has a new text."""

    def __init__(self) -> None:
        self.raydap_texts: dict[str, str] = {}
        """The new text of each file, by path."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> "ModuleSpec | None":
        """Return the specification of a module, None if its file has no new text."""
        name = fullname.rpartition(".")[2]
        ends = (f"{os.sep}{name}.py", f"{os.sep}{name}{os.sep}__init__.py")
        if not any(each.endswith(ends) for each in list(self.raydap_texts)):
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        text = None if spec is None or spec.origin is None else self.raydap_texts.get(spec.origin)
        if spec is not None and text is not None:
            spec.loader = _TextLoader(fullname, str(spec.origin), text)
            return spec
        return None


class _TextLoader(SourceFileLoader):
    """Loads a module from a text."""

    def __init__(self, fullname: str, path: str, text: str) -> None:
        super().__init__(fullname, path)
        self._text = text

    def get_source(self, fullname: str) -> str:
        """Return the text."""
        return self._text

    def get_code(self, fullname: str) -> "CodeType | None":
        """Compile the text. The compiled file of the old text is not used."""
        return compile(self._text, self.path, "exec", dont_inherit=True)


def _use_new_lines() -> None:
    finder = _finder(create=False)
    if finder is None or "_pydevd_bundle.pydevd_api" not in sys.modules or original(LINES) is None:
        return
    before = original(LINES)

    def _get_code_lines(code: Any) -> Any:
        text = finder.raydap_texts.get(code) if isinstance(code, str) else None
        return before(code) if text is None else _lines(compile(text, code, "exec", 0, dont_inherit=True))

    install(LINES, _get_code_lines)


def _lines(code: CodeType) -> list[int]:
    lines = [line for _, line in dis.findlinestarts(code) if line is not None]
    for each in code.co_consts:
        if isinstance(each, CodeType):
            lines += _lines(each)
    return lines
