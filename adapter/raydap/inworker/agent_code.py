"""The code of an agent, which is compiled once for many processes; runs in drivers, and in prepared clusters' workers.

Compiling takes 10 to 18 ms (measured), by which each worker would start later.
"""

import base64
import importlib.util
import json
import marshal
import os
import re
import zlib
from importlib.machinery import SourceFileLoader
from types import CodeType

AGENT_FILES: tuple[str, ...] = ("thread_frames.py", "frame_locals.py", "safe_values.py", "coroutines.py")
AGENT_FILES += ("stack_reader.py", "lock_owners.py", "object_waits.py", "coroutine_waits.py", "thread_waits.py")
AGENT_FILES += ("running_values.py", "agent_lines.py", "agent_socket.py", "agent_threads.py", "breakpoint_hooks.py")
AGENT_FILES += ("raydap_calls.py", "resumed_frames.py", "thread_tracers.py")
AGENT_FILES += ("pydevd_lifetime.py", "agent.py", "agent_children.py")
AGENT_FILES += ("private_folders.py", "start_files.py", "python_commands.py", "driver_agent.py", "first_frame.py")
AGENT_FILES += ("actor_threads.py", "thread_identity.py")
"""What makes an agent; they are run in this order, in one module."""

START_FILES: tuple[str, ...] = ("agent_code.py", "driver_setup.py", "worker_setup.py", "at_start/sitecustomize.py")
START_FILES += AGENT_FILES
"""What a Python needs to begin with an agent (at_start/sitecustomize.py)."""

COMPILED_AS = "<raydap agent>"
"""The file of all this code, as agent.py says it to pydevd."""


def read_code(folder: str, *files: str) -> list[CodeType]:
    """The code of files in the folder, from Python's own cache of compiled files if that has it. Raises OSError and
    SyntaxError."""
    return [_renamed(SourceFileLoader("raydap", os.path.join(folder, file)).get_code("raydap")) for file in files]


def _renamed(code: CodeType | None) -> CodeType:
    assert code is not None
    constants = (_renamed(each) if isinstance(each, CodeType) else each for each in code.co_consts)
    return code.replace(co_filename=COMPILED_AS, co_consts=tuple(constants))


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
