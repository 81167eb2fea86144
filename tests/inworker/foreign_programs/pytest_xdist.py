"""Outcomes and output of tests in two processes of pytest-xdist."""

import os
import subprocess
import sys
from pathlib import Path

TESTS = """\
import os, subprocess, sys, threading
import pytest

@pytest.mark.parametrize("number", range(6))
def test_number(number):
    assert number != 3, "three"

def test_child():
    assert subprocess.run([sys.executable, "-c", "exit(4)"]).returncode == 4

def test_thread():
    seen = []
    thread = threading.Thread(target=seen.append, args=(1,))
    thread.start()
    thread.join()
    assert seen == [1]

def test_warns():
    with pytest.warns(DeprecationWarning):
        import warnings
        warnings.warn("old", DeprecationWarning)

def test_crash():
    os._exit(3)

@pytest.mark.skip(reason="skipped")
def test_skipped(): ...
"""
Path("test_it.py").write_text(TESTS)
os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
options = ["-p", "xdist", "-n", "2", "-q", "-rA", "-p", "no:cacheprovider", "--color=no"]
answer = subprocess.run([sys.executable, "-m", "pytest", *options], capture_output=True, text=True)
print(answer.returncode)
words = ("PASSED", "FAILED", "SKIPPED", "ERROR", "E  ")
print(
    *sorted(line.partition(" - worker")[0] for line in answer.stdout.splitlines() if line.startswith(words)), sep="\n"
)
