"""The user's own folder on this machine, for sockets and files that nobody else may see."""

import os
import stat
from collections.abc import Mapping
from pathlib import Path


def directory(environ: Mapping[str, str] = os.environ) -> Path:
    """The user's runtime folder; made if it is missing. Raises OSError, also if it belongs to another user."""
    given = environ.get("XDG_RUNTIME_DIR", "")
    if given and os.access(given, os.W_OK | os.X_OK):
        path = Path(given) / "raydap"
    else:
        path = Path(environ.get("HOME") or os.path.expanduser("~")) / ".local" / "share" / "raydap" / "runtime"
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise PermissionError(0, "it is not a folder of yours", str(path))
    if stat.S_IMODE(found.st_mode) & 0o077:
        path.chmod(0o700)
    return path
