"""A cache for the bytecode of LSP's types, whose methods attrs generates and compiles in each process.

lsprotocol has 570 attrs classes. Compiling their methods takes half of the server's start-up time, and Python caches
the bytecode of modules only. attrs calls `compile` in `attr/_make.py: _compile_and_eval`, where a global of this name
hides the builtin. If another version of attrs compiles in another way, the cache stays empty and has no other effect.
"""

import hashlib
import importlib.util
import marshal
import os
from contextlib import suppress
from pathlib import Path
from types import CodeType
from typing import Any

import attr._make

from raydap import safe_files

_DIGEST_SIZE = 32


def import_types() -> None:
    """Import `lsprotocol.types`, with the bytecode in the cache; update the cache if it was not complete."""
    path = _path()
    known = _read(path) if path.is_absolute() else {}
    used: dict[bytes, CodeType] = {}

    def compile_once(script: str, filename: str, mode: str, *rest: Any) -> CodeType:
        key = hashlib.blake2b(f"{filename}\n{mode}\n{script}".encode(), digest_size=16).digest()
        code = used[key] = known.get(key) or compile(script, filename, mode, *rest)
        return code

    attrs_module: Any = attr._make
    attrs_module.compile = compile_once
    try:
        importlib.import_module("lsprotocol.types")
    finally:
        del attrs_module.compile
    if path.is_absolute() and used.keys() != known.keys():
        _write(path, used)


def _path() -> Path:
    """Return the path of the cache file, which depends on Python's bytecode version.

    The path is relative and begins with "~" if the user has no home folder.
    """
    folder = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))
    return folder / "raydap" / f"lsp-types-{importlib.util.MAGIC_NUMBER.hex()}"


def _read(path: Path) -> dict[bytes, CodeType]:
    """Return the content of the cache file; {} if it is missing or damaged, or if another user can replace it.

    The code runs in this process, and `marshal` may crash on a damaged file.
    """
    with suppress(OSError):
        data = safe_files.make_private(path.parent).joinpath(path.name).read_bytes()
        if hashlib.sha256(data[_DIGEST_SIZE:]).digest() == data[:_DIGEST_SIZE]:
            known: dict[bytes, CodeType] = marshal.loads(data[_DIGEST_SIZE:])
            return known
    return {}


def _write(path: Path, used: dict[bytes, CodeType]) -> None:
    """Write the cache file unless another user can replace it. Errors are ignored: they only make the start slower."""
    data = marshal.dumps(used)
    with suppress(OSError):
        safe_files.make_private(path.parent)
        safe_files.replace(str(path), hashlib.sha256(data).digest() + data)
