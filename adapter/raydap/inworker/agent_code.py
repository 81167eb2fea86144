"""The code of an agent, compiled once for many processes; runs in drivers, and in workers of prepared clusters.

Compiling takes 10 to 18 ms (measured), which would delay the start of each worker. The Pythons that a program starts
use another cache (`cache_start_code`): a single file, which at_start/sitecustomize.py reads without importing anything.
"""

import __future__

import ast
import base64
import contextlib
import importlib.util
import json
import marshal
import os
import py_compile
import re
import zlib
from importlib.machinery import SourceFileLoader
from types import CodeType
from typing import NamedTuple

IDLE: tuple[str, ...] = ("light_start", "agent")
"""An idle agent consists of these modules and of the modules that they import at their top (light_start.py)."""

REST: tuple[str, ...] = ("actor_threads", "driver_agent", "first_frame")
"""The code that starts an agent also uses these modules. The rest of an agent consists of them and of all modules that
they and the idle agent import, including imports in functions."""

_IMPORT = re.compile(r"^( *)from \.(\w+) import ", re.MULTILINE)

COMPILED_AS = "<raydap agent>"
"""The file name under which all this code is compiled (agent_session.FILE)."""


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
    agent = [*idle]
    while later:
        _follow(folder, later.pop(0), agent, later)
    driver = [*agent]
    _follow(folder, "driver_setup", driver, [])
    return Modules(idle, agent[len(idle) :], driver[len(agent) :])


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


def read_code(folder: str) -> list[tuple[str, CodeType]]:
    """Return the names and the code of an agent's modules, from Python's own cache where that has them.

    Raise OSError or SyntaxError.
    """
    found = find_modules(folder)
    return [(name, _code(os.path.join(folder, f"{name}.py"))) for name in found.idle + found.rest]


def agent_texts(folder: str) -> dict[str, str]:
    """Return the sources of an agent's modules by name, in the order in which they run. Raise OSError."""
    found = find_modules(folder)
    return {name: read_text(folder, f"{name}.py") for name in found.idle + found.rest}


def _code(path: str) -> CodeType:
    return _renamed(SourceFileLoader("raydap", path).get_code("raydap"))


def _renamed(code: CodeType | None) -> CodeType:
    assert code is not None
    constants = (_renamed(each) if isinstance(each, CodeType) else each for each in code.co_consts)
    return code.replace(co_filename=COMPILED_AS, co_consts=tuple(constants))


def cache_start_code(folder: str, path: str) -> bytes:
    """Compile the modules in the folder, write the code to `path` if possible, and return the written bytes.

    at_start/sitecustomize.py reads them (`start_code`). The compiled file of sitecustomize.py is written, too: with
    PYTHONDONTWRITEBYTECODE, Python does not write that file, and would compile the source at each start. Raise OSError
    or SyntaxError.
    """
    modules = find_modules(folder)
    # Read the versions first: a file that changes during the compilation must count as changed.
    versions = {file: file_version(folder, file) for file in start_files(folder)}
    code = [
        marshal.dumps([(name, compile_lightly(read_text(folder, f"{name}.py"))) for name in part]) for part in modules
    ]
    data = importlib.util.MAGIC_NUMBER + marshal.dumps((versions, tuple(code)))
    SourceFileLoader("raydap", path).set_data(path, data, _mode=0o644)
    with contextlib.suppress(OSError):
        py_compile.compile(os.path.join(folder, "at_start", "sitecustomize.py"), doraise=True)
    return data


def start_files(folder: str) -> list[str]:
    """Return the files that a Python needs to begin with an agent (at_start/sitecustomize.py). Raise OSError."""
    names = sorted(each for part in find_modules(folder) for each in part)
    return ["at_start/sitecustomize.py", "worker_setup.py", *(f"{name}.py" for name in names)]


def compile_lightly(text: str) -> CodeType:
    """Compile a source without its docstrings and its import of `__future__`.

    Only readers of the source need them, and Python would import the module `__future__` at run time.
    """
    tree = ast.parse(text)
    futures = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
    tree.body = [node for node in tree.body if node not in futures]
    flags = __future__.annotations.compiler_flag if futures else 0
    code: CodeType = compile(tree, COMPILED_AS, "exec", flags, dont_inherit=True, optimize=2)
    return code


def file_version(folder: str, name: str) -> tuple[int, int]:
    """Return the modification time in nanoseconds and the size in bytes of a file. Raise OSError."""
    status = os.stat(os.path.join(folder, name))
    return status.st_mtime_ns, status.st_size


def packed_code(folder: str) -> tuple[bytes, bytes, dict[str, str]]:
    """Return what worker_setup.py (`unpacked`) needs to run the modules of an agent in any version of Python.

    It consists of Python's magic number and the marshalled code, as in a `.pyc`, and the sources for another version.
    Raise OSError or SyntaxError.
    """
    return importlib.util.MAGIC_NUMBER, marshal.dumps(read_code(folder)), agent_texts(folder)


def packed_start_files(folder: str) -> str:
    """Return the files of `start_files` as a text for start_files.py (`unpack`). Raise OSError."""
    texts = {name: bare_source(read_text(folder, name)) for name in start_files(folder)}
    return base64.b85encode(zlib.compress(json.dumps(texts).encode(), 9)).decode()


def bare_source(text: str) -> str:
    """Return a source without its comment lines and docstrings, which are two fifths of its packed size."""
    return re.sub(r'^ *(?:#.*|"""(?:[^"]|"(?!""))*""")\n', "", text, flags=re.MULTILINE)


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
