"""The code of an agent, which is compiled once for many processes; runs in drivers, and in prepared clusters' workers.

Compiling takes 10 to 18 ms (measured), by which each worker would start later. The Pythons that a program starts have
another cache (`cache_start_code`): one file that at_start/sitecustomize.py reads without importing anything.
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
"""An idle agent has these modules and the modules that they import at their top (light_start.py)."""

REST: tuple[str, ...] = ("actor_threads", "driver_agent", "first_frame")
"""The code that starts an agent uses these modules, too. The rest of an agent consists of them and of the modules that
they and the idle agent import, also in functions."""

_IMPORT = re.compile(r"^( *)from \.(\w+) import ", re.MULTILINE)

COMPILED_AS = "<raydap agent>"
"""The file name of all this code (agent_session.FILE)."""


class Modules(NamedTuple):
    """The names of modules, each after those that it imports at its top."""

    idle: list[str]
    """The modules of an idle agent."""
    rest: list[str]
    """The others of an agent."""
    driver: list[str]
    """These modules give agents to the workers of a driver; they are run when `ray` is imported."""


def find_modules(folder: str) -> Modules:
    """Follow the imports of the modules in the folder. Raises OSError."""
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
    """Add a module to `found`, after those that it imports; those that its functions import go into `later`."""
    if name in found:
        return
    for indent, imported in _IMPORT.findall(read_text(folder, f"{name}.py")):
        if indent:
            later.append(imported)
        else:
            _follow(folder, imported, found, later)
    found.append(name)


def read_code(folder: str) -> list[tuple[str, CodeType]]:
    """Return the modules of an agent, from Python's own cache of compiled files if that has them. Raises OSError and
    SyntaxError."""
    found = find_modules(folder)
    return [(name, _code(os.path.join(folder, f"{name}.py"))) for name in found.idle + found.rest]


def agent_texts(folder: str) -> dict[str, str]:
    """Return the sources of the modules of an agent, in the order in which they are run. Raises OSError."""
    found = find_modules(folder)
    return {name: read_text(folder, f"{name}.py") for name in found.idle + found.rest}


def _code(path: str) -> CodeType:
    return _renamed(SourceFileLoader("raydap", path).get_code("raydap"))


def _renamed(code: CodeType | None) -> CodeType:
    assert code is not None
    constants = (_renamed(each) if isinstance(each, CodeType) else each for each in code.co_consts)
    return code.replace(co_filename=COMPILED_AS, co_consts=tuple(constants))


def cache_start_code(folder: str, path: str) -> bytes:
    """Compile the modules in the folder, and write the code to this path if possible; return the written bytes.

    at_start/sitecustomize.py reads it (`start_code`). Write the compiled file of that one, too: Python itself does not
    with PYTHONDONTWRITEBYTECODE, and would compile it at each start. Raises OSError and SyntaxError.
    """
    modules = find_modules(folder)
    # First, because a file that is changed now must not count as read.
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
    """Return the files that a Python needs to begin with an agent (at_start/sitecustomize.py). Raises OSError."""
    names = sorted(each for part in find_modules(folder) for each in part)
    return ["at_start/sitecustomize.py", "worker_setup.py", *(f"{name}.py" for name in names)]


def compile_lightly(text: str) -> CodeType:
    """Compile the text of a file of ours without what only its readers need: docstrings, and the import of
    `__future__`, whose module Python would import."""
    tree = ast.parse(text)
    futures = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
    tree.body = [node for node in tree.body if node not in futures]
    flags = __future__.annotations.compiler_flag if futures else 0
    code: CodeType = compile(tree, COMPILED_AS, "exec", flags, dont_inherit=True, optimize=2)
    return code


def file_version(folder: str, name: str) -> tuple[int, int]:
    status = os.stat(os.path.join(folder, name))
    return status.st_mtime_ns, status.st_size


def packed_code(folder: str) -> tuple[bytes, bytes, dict[str, str]]:
    """For worker_setup.py, `unpacked`: what the modules of an agent compile to, as in a `.pyc`, and their text for
    another version of Python. Raises OSError and SyntaxError."""
    return importlib.util.MAGIC_NUMBER, marshal.dumps(read_code(folder)), agent_texts(folder)


def packed_start_files(folder: str) -> str:
    """For start_files.py, `unpack`: the files of `start_files`. Raises OSError."""
    texts = {name: bare_source(read_text(folder, name)) for name in start_files(folder)}
    return base64.b85encode(zlib.compress(json.dumps(texts).encode(), 9)).decode()


def bare_source(text: str) -> str:
    """Return a source without the lines of its comments and docstrings, which take two fifths of its packed size."""
    return re.sub(r'^ *(?:#.*|"""(?:[^"]|"(?!""))*""")\n', "", text, flags=re.MULTILINE)


def child_settings(folder: str, wanted: bool) -> dict[str, bool | str]:
    """What agent_children.py is told in a worker, perhaps on a machine where the folder does not exist. `wanted`: the
    worker's children have agents. Raises OSError."""
    settings: dict[str, bool | str] = {"CHILDREN": wanted, "AT_START": os.path.join(folder, "at_start")}
    return {**settings, "PACKED_START_FILES": packed_start_files(folder)} if wanted else settings


def read_text(folder: str, file: str) -> str:
    with open(os.path.join(folder, *file.split("/")), encoding="utf-8") as source:
        return source.read()
