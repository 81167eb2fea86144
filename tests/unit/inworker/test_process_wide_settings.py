"""The code in workers changes no setting of the whole process: other threads of the program depend on it."""

import ast
from importlib import resources
from pathlib import Path

import pytest

FILES = sorted(Path(str(resources.files("raydap.inworker"))).rglob("*.py"))

SETTERS = {"umask", "chdir", "fchdir", "chroot", "setrlimit", "nice", "setpriority", "setlocale", "tzset"}
SETTERS |= {"setdefaulttimeout", "setrecursionlimit", "filterwarnings", "simplefilter"}


@pytest.mark.parametrize("path", FILES, ids=[path.name for path in FILES])
def test_no_setting_of_the_process_is_changed(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    used = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    used |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert used & SETTERS == set()
