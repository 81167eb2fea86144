"""Keeps the bytecode of LSP's types, which attrs writes and compiles anew in each process.

lsprotocol has 570 classes of attrs. To compile their methods takes half of the time in which the server starts; Python
keeps the bytecode of modules only. attrs calls `compile` in `attr/_make.py: _compile_and_eval`, where a global of this
name comes before the builtin. If attrs goes another way, nothing is kept, and all else is as before.
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
    """Imports `lsprotocol.types`."""
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
    """Return the file in the user's cache, one for each version of bytecode; "~/..." if the user has no home."""
    folder = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))
    return folder / "raydap" / f"lsp-types-{importlib.util.MAGIC_NUMBER.hex()}"


def _read(path: Path) -> dict[bytes, CodeType]:
    """Return nothing if there is no such file, if another user can replace it, or if it is damaged.

    The code runs in this process, and `marshal` may crash on a damaged file.
    """
    with suppress(OSError):
        data = safe_files.make_private(path.parent).joinpath(path.name).read_bytes()
        if hashlib.sha256(data[_DIGEST_SIZE:]).digest() == data[:_DIGEST_SIZE]:
            known: dict[bytes, CodeType] = marshal.loads(data[_DIGEST_SIZE:])
            return known
    return {}


def _write(path: Path, used: dict[bytes, CodeType]) -> None:
    """Write the file if no other user can replace it. A folder that cannot be written to costs only time."""
    data = marshal.dumps(used)
    with suppress(OSError):
        safe_files.make_private(path.parent)
        safe_files.replace(str(path), hashlib.sha256(data).digest() + data)
