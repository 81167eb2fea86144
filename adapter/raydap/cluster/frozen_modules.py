"""Removes a warning of debugpy from the output of a program.

Each process that imports debugpy on Python 3.11 or later prints four lines about frozen modules, and Ray forwards those
of all workers to the driver. The warning does not help: the frozen modules are parts of the standard library.
"""

import re

# From debugpy/_vendored/pydevd/pydevd_file_utils.py. Before each line, pydev_log.py prints the seconds, and Ray prints
# the worker.
_WARNING = re.compile(
    r"\d+\.\d\ds - ("
    r"Debugger warning: It seems that frozen modules are being used, which may"
    r"|make the debugger miss breakpoints\. Please pass -Xfrozen_modules=off"
    r"|to python to disable frozen modules\."
    r"|Note: Debugging will proceed\. Set PYDEVD_DISABLE_FILE_VALIDATION=1 to disable this validation\.)"
)


class FrozenModulesFilter:
    """Filters one stream of text, which arrives in parts."""

    def __init__(self) -> None:
        self._held = ""

    def drop(self, text: str) -> str:
        """Return the text without the warning.

        Only the start of a line that belongs to the warning is held back until the next call.
        """
        *lines, rest = (self._held + text).split("\n")
        kept = "".join(f"{line}\n" for line in lines if not _WARNING.search(line))
        self._held = rest if _WARNING.search(rest) else ""
        return kept if self._held else kept + rest
