"""Modules, folders and archives that are run as programs, in this process."""

import contextlib
import importlib
import io
import runpy
import sys
import zipapp
from pathlib import Path

Path("folder").mkdir()
Path("folder", "__main__.py").write_text(
    "import helper, sys\nprint(__name__, helper.NAME, sys.argv[0], len(sys.path))\n"
)
Path("folder", "helper.py").write_text("NAME = __name__\n")
Path("single.py").write_text(
    "import sys\nvalue = __name__, __package__, sys.argv[0]\nif __name__ == '__main__': sys.exit(2)\n"
)
sys.path.insert(0, "")
print(sorted(runpy.run_path("folder", run_name="named"))[-3:])
zipapp.create_archive("folder", "archive.pyz", interpreter="/usr/bin/env python3", main=None)
print(runpy.run_path("archive.pyz")["__name__"])
print(runpy.run_path("single.py")["value"], runpy.run_module("single")["value"])
try:
    runpy.run_module("single", run_name="__main__", alter_sys=True)
except SystemExit as error:
    print(error.code)
with contextlib.redirect_stdout(io.StringIO()) as output:
    exec(compile("print(__name__)", "<text>", "exec"), {"__name__": "text"})
print(output.getvalue())
module = importlib.import_module("single")
Path("single.py").write_text("value = 'reloaded'\n")
importlib.invalidate_caches()
print(importlib.reload(module).value)
print(sorted(name for name in sys.modules if "raydap" in name and not name.startswith("_raydap")))
