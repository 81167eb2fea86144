"""The code that travels into processes: modules of this folder, with all modules that they import.

`load` makes an expression that installs modules in a process, as a package of its own (loader.py). Workers, drivers,
submitted jobs and debuggees receive their code so. The Pythons that a program starts use a cache (`cache_start_code`):
a single file, which at_start/sitecustomize.py reads without importing anything.

Compiling the code of an agent takes 10 to 18 ms (measured), which would delay the start of each worker. So it is
compiled once for many processes.

The design is in docs/design/bundle.md.
"""

import __future__

import base64
import contextlib
import functools
import hashlib
import importlib.util
import json
import marshal
import os
import py_compile
import re
import zlib
from collections.abc import Sequence
from importlib.machinery import SourceFileLoader
from types import CodeType
from typing import NamedTuple

AGENT = "_raydap_agent"
"""The package of an agent. A process has only one, of whatever version of raydap."""

IDLE: tuple[str, ...] = ("light_start", "agent")
"""An idle agent consists of these modules and of the modules that they import at their top (light_start.py)."""

REST: tuple[str, ...] = ("driver_agent", "first_frame")
"""The code that starts an agent also uses these modules. The rest of an agent consists of them and of all modules that
they and the idle agent import, including imports in functions."""

_IMPORT = re.compile(r"^([ \t]*)from \.(\w+) import ", re.MULTILINE)

_LEFT_OUT = re.compile(r'^(?:( *)(?:#.*|"""(?:[^"]|"(?!""))*""")?|if TYPE_CHECKING:(?:\n .*|\n)*)\n', re.MULTILINE)

_COMMENT = re.compile(r" {2}# .*$", re.MULTILINE)

_RESULT = re.compile(r"\) -> .*:$", re.MULTILINE)

_HEAD = re.compile(r"^ *(?:async )?def \w+\(.*(?=\):$)", re.MULTILINE)

_PARAMETER = re.compile(r"(?<!lambda)(?<=\w): (?:[\w.| \"]|\[(?:[^\[\]]|\[[^\[\]]*\])*\])+?(?= = |,|$)")

_VARIABLE = re.compile(r"^( +self\.\w+| {8,}\w+): [^=\n]+(?= = )", re.MULTILINE)

_WIDE = re.compile(r"^(?: {4})+", re.MULTILINE)

_INDENT = re.compile(r"\n*( *)")

_FUTURE = re.compile(r"^from __future__ import annotations\n", re.MULTILINE)

_FILE = "<raydap agent>"
"""The file name under which all this code is compiled (loader.py)."""


class Modules(NamedTuple):
    """The names of modules, each after the modules that it imports at its top."""

    idle: list[str]
    """The modules of an idle agent."""
    rest: list[str]
    """The other modules of an agent, which run when raydap needs them."""
    driver: list[str]
    """The modules that give agents to the workers of a driver. They run when `ray` is imported."""


def find_modules(folder: str) -> Modules:
    """Find the modules of an agent by following the imports of the files in the folder. Raise OSError."""
    idle: list[str] = []
    later = [*REST]
    for name in IDLE:
        _follow(folder, name, idle, later)
    agent = with_imports(folder, later, idle)
    driver = [*agent]
    _follow(folder, "driver_setup", driver, [])
    return Modules(idle, agent[len(idle) :], driver[len(agent) :])


def with_imports(folder: str, names: Sequence[str], before: Sequence[str] = ()) -> list[str]:
    """Return the modules `before`, these modules, and all that they import, also in functions. Raise OSError."""
    found, later = [*before], [*names]
    while later:
        _follow(folder, later.pop(0), found, later)
    return found


def _follow(folder: str, name: str, found: list[str], later: list[str]) -> None:
    """Add a module to `found`, after its imports; add the imports in its functions to `later`."""
    if name in found:
        return
    for indent, imported in _IMPORT.findall(read_text(folder, f"{name}.py")):
        if indent:
            later.append(imported)
        else:
            _follow(folder, imported, found, later)
    found.append(name)


def load(folder: str, package: str, *names: str, compiled: bool = False, dense: bool = True) -> str:
    """Return an expression that installs these modules, with their imports, and has the package as its value.

    The other arguments are those of `packed`. Raise OSError or SyntaxError.
    """
    loader = bare_source(read_text(folder, "loader.py"))
    modules = packed(folder, with_imports(folder, names), compiled=compiled, dense=dense)
    return f"(lambda names: exec({loader!r}, names) or names['unpack']({package!r}, {modules}))(dict())"


def packed(folder: str, modules: Sequence[str], *, compiled: bool = False, dense: bool = True) -> str:
    """Return an expression for the argument of `unpack` (loader.py) that installs these modules.

    With `compiled`, it contains the modules both compiled and as text: a process with this version of Python need not
    compile them. Without `dense`, it contains letters, digits, `+`, `/` and `=` only, and is 7 % longer. Raise OSError
    or SyntaxError.
    """
    texts = [(name, bare_source(read_text(folder, f"{name}.py"))) for name in modules]
    # Version 2 of marshal is the same for all Pythons. Decoding base85 takes 2 ms more than base64 (measured).
    data = zlib.compress(marshal.dumps(texts, 2), 9)
    text = repr(base64.b85encode(data) if dense else base64.b64encode(data).decode())
    if not compiled:
        return text
    code = zlib.compress(marshal.dumps([(name, compile_lightly(each)) for name, each in texts]), 9)
    same = f"__import__('importlib.util').util.MAGIC_NUMBER == {importlib.util.MAGIC_NUMBER!r}"
    return f"{base64.b64encode(code).decode()!r} if {same} else {text}"


@functools.cache
def digest(folder: str) -> str:
    """Return a short text that differs for folders with different sources. Raise OSError."""
    names = sorted(each for each in os.listdir(folder) if each.endswith(".py"))
    texts = "\0".join(read_text(folder, each) for each in names)
    return hashlib.sha256(texts.encode()).hexdigest()[:12]


def cache_start_code(folder: str, path: str) -> bytes:
    """Compile the modules in the folder, write the code to `path` if possible, and return the written bytes.

    at_start/sitecustomize.py reads them (`start_code`). Its own compiled file is written, too: with
    PYTHONDONTWRITEBYTECODE, Python does not write that file, and would compile the source at each start. Raise OSError
    or SyntaxError.
    """
    modules = find_modules(folder)
    # Read the versions first: a file that changes during the compilation must count as changed.
    versions = {file: file_version(folder, file) for file in start_files(folder)}
    code = [
        marshal.dumps([(name, compile_lightly(read_text(folder, f"{name}.py"))) for name in part]) for part in modules
    ]
    loader = compile_lightly(read_text(folder, "loader.py"))
    data = importlib.util.MAGIC_NUMBER + marshal.dumps((versions, (loader, *code)))
    SourceFileLoader("raydap", path).set_data(path, data, _mode=0o644)
    with contextlib.suppress(OSError):
        py_compile.compile(os.path.join(folder, "at_start", "sitecustomize.py"), doraise=True)
    return data


def start_files(folder: str) -> list[str]:
    """Return the files that a Python needs to begin with an agent (at_start/sitecustomize.py). Raise OSError."""
    names = sorted(each for part in find_modules(folder) for each in part)
    return ["at_start/sitecustomize.py", "loader.py", "worker_setup.py", *(f"{name}.py" for name in names)]


def compile_lightly(text: str) -> CodeType:
    """Compile a source without its docstrings and its import of `__future__`, and with annotations as text.

    Only readers of the source need them, and Python would import the module `__future__` at run time.
    """
    text, flags = _FUTURE.sub("\n", text), __future__.annotations.compiler_flag
    return _without_columns(compile(text, _FILE, "exec", flags, dont_inherit=True, optimize=2))


def _without_columns(code: CodeType) -> CodeType:
    """Return code that knows its lines and not its columns. Since Python 3.11 the columns are 30 % of the code.

    Source: InternalDocs/code_objects.md of Python, "The locations table".
    """
    constants = (_without_columns(each) if isinstance(each, CodeType) else each for each in code.co_consts)
    if not hasattr(code, "co_positions"):
        return code.replace(co_consts=tuple(constants))
    table, before = bytearray(), code.co_firstlineno
    for start, end, line in code.co_lines():
        # An entry is for at most 8 instructions of 2 bytes. Its kind is 13, with the difference of the lines, or 15.
        for first in range(start, end, 16):
            table.append(0x80 | (15 if line is None else 13) << 3 | (min(end - first, 16) // 2 - 1))
            if line is not None:
                number = (line - before) * 2 if line >= before else (before - line) * 2 + 1
                while number > 63:
                    table.append(0x40 | number & 63)
                    number >>= 6
                table.append(number)
                before = line
    return code.replace(co_linetable=bytes(table), co_consts=tuple(constants))


def file_version(folder: str, name: str) -> tuple[int, int]:
    """Return the modification time in nanoseconds and the size in bytes of a file. Raise OSError."""
    status = os.stat(os.path.join(folder, name))
    return status.st_mtime_ns, status.st_size


def packed_start_files(folder: str) -> str:
    """Return the files of `start_files` as a text for start_files.py (`unpack`). Raise OSError."""
    texts = {name: bare_source(read_text(folder, name)) for name in start_files(folder)}
    return base64.b85encode(zlib.compress(json.dumps(texts).encode(), 9)).decode()


def bare_source(text: str) -> str:
    """Return a source without what only readers need, which is half of its packed size.

    That is comments, docstrings, empty lines, imports for type checkers, spaces for indentation, and the types of
    results, parameters and variables, but not of the fields of a class. A bare source does not change: the files of
    `packed_start_files` are packed again where they are unpacked.
    """
    text = _RESULT.sub("):", _COMMENT.sub("", _LEFT_OUT.sub(_left_out, text)))
    text = _VARIABLE.sub(r"\1", _HEAD.sub(lambda head: _PARAMETER.sub("", head[0]), text))
    return _WIDE.sub(lambda indent: "\t" * (len(indent[0]) // 4), text)


def _left_out(found: re.Match[str]) -> str:
    """Return the replacement of these lines: a statement where they are a whole body, else nothing."""
    indent, following = found[1] or "", _INDENT.match(found.string, found.end())
    is_body = found.string.endswith(":\n", 0, found.start()) and following and len(following[1]) < len(indent)
    return f"{indent}pass\n" if is_body else ""


def child_settings(folder: str, wanted: bool) -> dict[str, bool | str]:
    """Return the settings of agent_children.py for a worker, perhaps on a machine without this folder.

    `wanted` is whether the worker's children have agents. Raise OSError.
    """
    settings: dict[str, bool | str] = {"CHILDREN": wanted, "AT_START": os.path.join(folder, "at_start")}
    return {**settings, "PACKED_START_FILES": packed_start_files(folder)} if wanted else settings


def read_text(folder: str, file: str) -> str:
    """Return the text of a file in the folder. `file` is a relative path with slashes. Raise OSError."""
    with open(os.path.join(folder, *file.split("/")), encoding="utf-8") as source:
        return source.read()
