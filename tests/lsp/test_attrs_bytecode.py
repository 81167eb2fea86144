"""The second start compiles no types. A file that cannot be read or written has no effect."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

COUNT = """
import sys
compiled = []
sys.addaudithook(lambda event, arguments: event == "compile" and compiled.append(arguments[1]))
from raydap.lsp import attrs_bytecode
attrs_bytecode.import_types()
import lsprotocol.types
assert lsprotocol.types.Position(1, 2) == lsprotocol.types.Position(1, 2)
assert repr(lsprotocol.types.Position(1, 2)) == "1:2"
print(sum("attrs generated" in str(name) for name in compiled))
"""


def compiled(cache: Path) -> int:
    """Return how many functions of attrs a process compiles."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    done = subprocess.run([sys.executable, "-c", COUNT], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def test_the_second_start_compiles_nothing(tmp_path: Path) -> None:
    first, second = compiled(tmp_path), compiled(tmp_path)
    assert first > 500
    # attrs and cattrs compile some functions for themselves.
    assert second < 50


@pytest.mark.parametrize("damage", [b"", b"garbage" * 20, None], ids=["empty", "garbage", "half"])
def test_a_damaged_file_is_replaced(tmp_path: Path, damage: bytes | None) -> None:
    compiled(tmp_path)
    (path,) = (tmp_path / "raydap").iterdir()
    path.write_bytes(path.read_bytes()[:5000] if damage is None else damage)
    assert compiled(tmp_path) > 500
    assert compiled(tmp_path) < 50


def test_a_folder_that_cannot_be_used_is_no_fault(tmp_path: Path) -> None:
    (tmp_path / "raydap").write_text("a file in its place")
    assert compiled(tmp_path) > 500
