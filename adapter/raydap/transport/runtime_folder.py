"""The user's own folder on this machine, for sockets and files that no other user may see."""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from raydap import safe_files


def directory(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the user's runtime folder, and create it if it is missing.

    It is below `XDG_RUNTIME_DIR`, else below the home folder. If these are missing or read-only, or if other users can
    rename the folder there, it is in /tmp. Raises OSError, also if the folder belongs to another user.
    """
    *homes, last = _candidates(environ)
    for path in filter(safe_files.can_hold, homes):
        with suppress(OSError):
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
        if path.exists():
            return safe_files.make_private(path)
    return safe_files.make_private(last)


def _candidates(environ: Mapping[str, str]) -> Iterator[Path]:
    given = environ.get("XDG_RUNTIME_DIR", "")
    if given and os.access(given, os.W_OK | os.X_OK):
        yield Path(given) / "raydap"
    home = Path(environ.get("HOME") or os.path.expanduser("~"))
    if home.is_absolute():  # It is "~" without HOME and without an entry in the password database.
        yield home / ".local" / "share" / "raydap" / "runtime"
    yield Path(f"/tmp/raydap-{os.getuid()}")
