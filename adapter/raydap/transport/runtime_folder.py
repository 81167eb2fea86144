"""The user's own folder on this machine, for sockets and files that nobody else may see."""

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path


def directory(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the user's runtime folder; make it if it is missing. Raises OSError, also if it belongs to another user.

    It is below `XDG_RUNTIME_DIR`, else below the home folder. Where that is read-only or not known, it is in /tmp.
    """
    *homes, last = _candidates(environ)
    for path in homes:
        with suppress(OSError):
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
        if path.exists():
            return _checked(path)
    last.mkdir(mode=0o700, exist_ok=True)
    return _checked(last)


def _candidates(environ: Mapping[str, str]) -> Iterator[Path]:
    given = environ.get("XDG_RUNTIME_DIR", "")
    if given and os.access(given, os.W_OK | os.X_OK):
        yield Path(given) / "raydap"
    home = Path(environ.get("HOME") or os.path.expanduser("~"))
    if home.is_absolute():  # Without HOME and an entry in the password database it is "~".
        yield home / ".local" / "share" / "raydap" / "runtime"
    yield Path(f"/tmp/raydap-{os.getuid()}")


def _checked(path: Path) -> Path:
    """Return the folder, with the mode 0700. Raises PermissionError if it belongs to another user."""
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise PermissionError(0, "it is not a folder of yours", str(path))
    if stat.S_IMODE(found.st_mode) & 0o077:
        path.chmod(0o700)
    return path
