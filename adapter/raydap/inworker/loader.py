"""The packages of raydap's modules in a process; the first code of raydap that runs there.

bundle.py sends this file with the modules. No finder of the process can find them, because they are in `sys.modules`
before anything imports them. So an import of one of them takes no lock: it succeeds although a stopped thread holds the
lock of an import, and calls no finder of the program.

This file imports only modules that each Python has imported already.
"""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import CodeType
    from typing import Any

FILE = "<raydap agent>"
"""The file name under which all code of raydap in a process is compiled."""


def install(package: str, modules: "Iterable[tuple[str, CodeType | str]]") -> "Any":
    """Run the modules that this package does not have yet; return the package.

    Its attributes are its modules, and the functions of this file. `modules` are names with code or sources, each after
    the modules that it imports at its top.
    """
    new = type(sys)
    own = sys.modules.setdefault(package, new(package))
    vars(own).update(unpack=unpack, remove=remove)
    for name, code in modules:
        if hasattr(own, name):
            continue
        module = new(f"{package}.{name}")
        module.__package__ = package
        exec(compile(code, FILE, "exec", dont_inherit=True) if isinstance(code, str) else code, vars(module))
        setattr(own, name, sys.modules.setdefault(module.__name__, module))
    return own


def unpack(package: str, packed: "bytes | str") -> "Any":
    """Install modules that bundle.py has packed: `bytes` of base85, or a `str` of base64; return the package."""
    import base64
    import marshal
    import zlib

    data = base64.b64decode(packed) if isinstance(packed, str) else base64.b85decode(packed)
    return install(package, marshal.loads(zlib.decompress(data)))


def remove(package: str) -> None:
    """Remove a package from the process. Its functions keep running where other objects refer to them."""
    for name in [each for each in sys.modules if f"{each}.".startswith(f"{package}.")]:
        del sys.modules[name]
