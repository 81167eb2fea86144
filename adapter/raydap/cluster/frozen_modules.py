"""Takes a warning of debugpy out of a program's output.

Each process that imports debugpy on Python 3.11 or later prints four lines about frozen modules, and Ray passes those
of all workers on to the driver. They are of no use: frozen modules are parts of the standard library.
"""

import re

# debugpy/_vendored/pydevd/pydevd_file_utils.py. pydev_log.py puts the seconds before each line, and Ray the worker.
_WARNING = re.compile(
    r"\d+\.\d\ds - ("
    r"Debugger warning: It seems that frozen modules are being used, which may"
    r"|make the debugger miss breakpoints\. Please pass -Xfrozen_modules=off"
    r"|to python to disable frozen modules\."
    r"|Note: Debugging will proceed\. Set PYDEVD_DISABLE_FILE_VALIDATION=1 to disable this validation\.)"
)


class FrozenModulesFilter:
    """Filters one stream of text, which comes in parts."""

    def __init__(self) -> None:
        self._held = ""

    def drop(self, text: str) -> str:
        """The text without the warning. Only the start of a line of the warning is held back for the next call."""
        *lines, rest = (self._held + text).split("\n")
        kept = "".join(f"{line}\n" for line in lines if not _WARNING.search(line))
        self._held = rest if _WARNING.search(rest) else ""
        return kept if self._held else kept + rest
