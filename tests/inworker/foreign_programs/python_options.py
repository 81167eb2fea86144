"""Pythons that ignore the environment, `site`, or both, and other options."""

import os
import subprocess
import sys
import zipapp
from pathlib import Path

SHOW = """\
import os, sys
print(sys.argv, sys.flags, sys.path, sys.warnoptions, sorted(sys._xoptions.items()), __name__, __file__ if "__file__" in globals() else None)
print(getattr(__spec__, "name", None), [each for each in os.environ if each.startswith(("PYTHON", "RAYDAP"))], os.environ.get("PYTHONPATH"), sys.orig_argv[1:])
print(sys.gettrace(), sys.getprofile(), sorted(vars(sys.modules["__main__"])))
"""
Path("program.py").write_text(SHOW)
Path("package").mkdir()
Path("package", "__init__.py").write_text("")
Path("package", "__main__.py").write_text(SHOW)
Path("script").write_text(f"#!{sys.executable} -s\n{SHOW}")
Path("script").chmod(0o755)
zipapp.create_archive("package", "archive.pyz")


def run(*words, **how):
    answer = subprocess.run([sys.executable, *words], capture_output=True, text=True, **how)
    print(words, answer.returncode, answer.stdout, answer.stderr)


OPTIONS = ((), ("-I",), ("-S",), ("-E",), ("-s",), ("-IS",), ("-W", "error", "-E"), ("-X", "utf8", "-S"), ("-u", "-B"))
OPTIONS += (("-O",), ("-OO", "-b"), ("-X", "dev"), ("-W", "error"), ("-P",), ("-q", "-d"), ("-X", "faulthandler"))
for options in OPTIONS:
    if sys.version_info >= (3, 11) or "-P" not in options:
        run(*options, "program.py", "-E", "an argument")
run("-c", SHOW, "-I")
run("-", "-I", input=SHOW)
run("-m", "package", "x")
run("archive.pyz", "x")
run("package", "x")
run("-Wdefault", "-m", "program", "x")
run("--version")
run("-V")
run("-c", "exit(3)", env={})
run("-x", "script")
run("-z")
answer = subprocess.run(["./script", "-I"], capture_output=True, text=True)
print(answer.returncode, answer.stdout, answer.stderr)
answer = subprocess.run([sys.executable, "-X", "importtime", "-c", "import colorsys"], capture_output=True, text=True)
print(answer.returncode, [line.split("|")[-1].strip() for line in answer.stderr.splitlines()][-1])
print(sorted(os.listdir()))
