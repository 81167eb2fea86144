"""The functions that raydap and debugpy have replaced in a process, and the table of them in docs/security.md."""

import re
from pathlib import Path

SCAN = '''\
def replaced():
    """Names of attributes of modules, and of their classes, whose code is raydap's or debugpy's. The module posix is
    shown as os, which has its functions from there."""
    import sys, types
    own = ("_raydap_agent", "debugpy", "_debugpy", "pydevd", "_pydev", "pydev")
    def is_ours(value):
        if str(getattr(type(value), "__module__", "")).startswith(own):
            return True
        value = value.__func__ if isinstance(value, types.MethodType) else value
        code = value.__code__ if isinstance(value, types.FunctionType) else None
        return code is not None and (code.co_filename == "<raydap agent>" or "/debugpy/" in code.co_filename)
    found = set()
    for name, module in list(sys.modules.items()):
        if name.startswith(own) or name == "sitecustomize" or not isinstance(module, types.ModuleType):
            continue
        for attribute, value in list(vars(module).items()):
            if is_ours(value):
                found.add(f"{name}.{attribute}")
            elif isinstance(value, type) and value.__module__ == name:
                inner = list(vars(value).items())
                found.update(f"{name}.{attribute}.{each}" for each, method in inner if is_ours(method))
    return sorted("os." + each[6:] if each.startswith("posix.") else each for each in found)
'''
"""The source of a function that finds them in its own process."""

_DOCS = Path(__file__).parents[2] / "docs" / "security.md"


def documented(*where: str) -> set[str]:
    """Return the functions of the rows whose second column is one of these texts."""
    _, _, rest = _DOCS.read_text("utf-8").partition('<a id="replaced"></a>')
    rows = [line.split("|") for line in rest.partition("\n### ")[2].partition("\n### ")[0].splitlines() if "|" in line]
    names = [(row[2].strip(), re.findall("`([^`]+)`", row[1])) for row in rows[2:]]
    assert set(where) <= {place for place, _ in names}
    return {name for place, functions in names for name in functions if place in where}
