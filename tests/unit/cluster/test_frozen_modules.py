"""debugpy's warning about frozen modules, alone and between other lines."""

import subprocess
import sys

import pytest

from raydap.cluster.frozen_modules import FrozenModulesFilter

WARNING = """\
\033[36m(Trainer pid=7)\033[0m 0.00s - Debugger warning: It seems that frozen modules are being used, which may
\033[36m(Trainer pid=7)\033[0m 0.00s - make the debugger miss breakpoints. Please pass -Xfrozen_modules=off
\033[36m(Trainer pid=7)\033[0m 0.00s - to python to disable frozen modules. [repeated 3x across cluster]
(Trainer pid=7, ip=10.0.0.7) 12.34s - Note: Debugging will proceed. Set PYDEVD_DISABLE_FILE_VALIDATION=1 to disable \
this validation.
"""


def test_what_this_debugpy_prints_is_dropped() -> None:
    command = [sys.executable, "-X", "frozen_modules=on", "-c", "import debugpy.server.api"]
    printed = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stderr
    assert ("frozen modules" in printed) is (sys.version_info >= (3, 11))
    assert FrozenModulesFilter().drop(printed) == ""


@pytest.mark.parametrize("around", ["", "epoch 1\n", "a\n\nb\n", "0.00s - Debugger warning: another\n"])
def test_it_is_dropped_as_ray_passes_it_on_and_nothing_else_is(around: str) -> None:
    assert FrozenModulesFilter().drop(around + WARNING + around) == around + around


def test_it_is_dropped_when_each_line_s_end_comes_later() -> None:
    """Without buffering, Python writes the end of a line separately."""
    stream = FrozenModulesFilter()
    parts = [part for line in ("one", *WARNING.splitlines(), "two") for part in (line, "\n")]
    assert "".join(map(stream.drop, parts)) == "one\ntwo\n"


@pytest.mark.parametrize("text", ["", "50 %\r", "> ", "(Trainer pid=7) 0.00s", "\n"])
def test_a_line_that_is_not_complete_does_not_wait(text: str) -> None:
    assert FrozenModulesFilter().drop(text) == text
