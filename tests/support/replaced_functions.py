"""The functions that raydap and debugpy have replaced in a process, and those of raydap's table."""

from raydap.inworker.replaced_functions import ROWS

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


def documented(*where: str) -> set[str]:
    """Return the functions of the rows whose second column is one of these texts."""
    assert set(where) <= {row[1] for row in ROWS}
    return {path.replace(":", ".") for row in ROWS if row[1] in where for path in row[0].split()}
