"""The user's own folder on this machine, for sockets and files that nobody else may see."""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from raydap import safe_files


def directory(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the user's runtime folder; make it if it is missing. Raises OSError, also if it belongs to another user.

    It is below `XDG_RUNTIME_DIR`, else below the home folder. Where that is read-only or not known, and where other
    users can rename the folder, it is in /tmp.
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
    if home.is_absolute():  # Without HOME and an entry in the password database it is "~".
        yield home / ".local" / "share" / "raydap" / "runtime"
    yield Path(f"/tmp/raydap-{os.getuid()}")
