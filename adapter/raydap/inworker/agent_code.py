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

IDLE_FILES: tuple[str, ...] = ("light_start.py", "agent_lines.py", "agent_socket.py", "private_sockets.py")
IDLE_FILES += ("leftover_sockets.py", "fork_warnings.py", "breakpoint_hooks.py", "raydap_calls.py", "agent.py")
IDLE_FILES += ("agent_children.py", "python_commands.py")
"""The files of an agent that is idle (light_start.py)."""

REST_FILES: tuple[str, ...] = ("thread_frames.py", "frame_locals.py", "safe_values.py", "coroutines.py")
REST_FILES += ("stack_reader.py", "lock_owners.py", "object_waits.py", "coroutine_waits.py", "thread_waits.py")
REST_FILES += ("running_values.py", "resumed_frames.py", "agent_threads.py", "thread_tracers.py")
REST_FILES += ("pydevd_lifetime.py", "agent_session.py")
REST_FILES += ("private_folders.py", "start_files.py", "driver_agent.py", "first_frame.py")
REST_FILES += ("actor_threads.py", "thread_identity.py")

AGENT_FILES = IDLE_FILES + REST_FILES
"""What makes an agent; they are run in this order, in one module."""

DRIVER_FILES = ("agent_code.py", "driver_setup.py")
"""The files that give the agent to the workers of a driver. They are run in one module, when `ray` is imported."""

START_FILES: tuple[str, ...] = ("agent_code.py", "driver_setup.py", "worker_setup.py", "at_start/sitecustomize.py")
START_FILES += AGENT_FILES
"""What a Python needs to begin with an agent (at_start/sitecustomize.py)."""

COMPILED_AS = "<raydap agent>"
"""The file name of all this code (agent_session.FILE)."""


def read_code(folder: str, *files: str) -> list[CodeType]:
    """The code of files in the folder, from Python's own cache of compiled files if that has it. Raises OSError and
    SyntaxError."""
    return [_renamed(SourceFileLoader("raydap", os.path.join(folder, file)).get_code("raydap")) for file in files]


def _renamed(code: CodeType | None) -> CodeType:
    assert code is not None
    constants = (_renamed(each) if isinstance(each, CodeType) else each for each in code.co_consts)
    return code.replace(co_filename=COMPILED_AS, co_consts=tuple(constants))


def cache_start_code(folder: str, path: str) -> bytes:
    """Compile START_FILES in the folder, and write the code to this path if possible; return the written bytes.

    at_start/sitecustomize.py reads it (`start_code`). Write the compiled file of that one, too: Python itself does not
    with PYTHONDONTWRITEBYTECODE, and would compile it at each start. Raises OSError and SyntaxError.
    """
    # First, because a file that is changed now must not count as read.
    versions = {name: file_version(folder, name) for name in START_FILES}
    groups = (IDLE_FILES, REST_FILES, DRIVER_FILES)
    code = tuple(marshal.dumps([compile_lightly(read_text(folder, name)) for name in group]) for group in groups)
    data = importlib.util.MAGIC_NUMBER + marshal.dumps((versions, code))
    SourceFileLoader("raydap", path).set_data(path, data, _mode=0o644)
    with contextlib.suppress(OSError):
        py_compile.compile(os.path.join(folder, "at_start", "sitecustomize.py"), doraise=True)
    return data


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


def packed_code(folder: str, *files: str) -> tuple[bytes, bytes, list[str]]:
    """For worker_setup.py, `unpacked`: what files in the folder compile to, as in a `.pyc`, and their text for another
    version of Python. Raises OSError and SyntaxError."""
    texts = [read_text(folder, file) for file in files]
    return importlib.util.MAGIC_NUMBER, marshal.dumps(read_code(folder, *files)), texts


def packed_start_files(folder: str) -> str:
    """For start_files.py, `unpack`: START_FILES, which are in the folder. Raises OSError."""
    texts = {name: bare_source(read_text(folder, name)) for name in START_FILES}
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
