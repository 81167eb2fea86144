"""Reads and writes files in folders where other users of the machine may write.

A private folder is used only if no other user can replace it. A file is written under a new name in the same folder and
then renamed, so that a link or pipe of another user is never opened.
"""

import errno
import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from raydap.inworker.private_folders import is_safe


def can_hold(path: Path) -> bool:
    """Return whether no other user can rename or replace a folder at this path, which need not exist yet."""
    above = next((each for each in path.absolute().parents if each.exists()), Path("/"))
    return is_safe(os.path.realpath(above))


def make_private(path: Path) -> Path:
    """Make sure that `path` is a folder of this user that no other user can enter, and return the path.

    A new folder gets mode 0700. Raises OSError; PermissionError if the folder belongs to another user or if another
    user can replace it.
    """
    if not can_hold(path):
        raise PermissionError(errno.EPERM, "other users can rename files in the folder above it", str(path))
    with suppress(FileExistsError):
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise PermissionError(errno.EPERM, "it is not a folder of yours", str(path))
    if stat.S_IMODE(found.st_mode) & 0o077:
        path.chmod(0o700)
    return path


def target(path: str) -> str:
    """Return the real path of a file. `path` may be a link of this user or of root.

    Raises PermissionError for a link, pipe or socket of another user. In shared folders such as /tmp, every user can
    create one.
    """
    with suppress(FileNotFoundError):
        found = os.lstat(path)
        is_special = stat.S_ISLNK(found.st_mode) or stat.S_ISFIFO(found.st_mode) or stat.S_ISSOCK(found.st_mode)
        if is_special and found.st_uid not in (0, os.getuid()):
            raise PermissionError(errno.EPERM, "another user has put a link or a pipe there", path)
    return os.path.realpath(path)


def replace(path: str, content: bytes, mode: int = 0o666) -> None:
    """Write a file completely or not at all. Raises OSError.

    A link at `path` is replaced, not followed. The umask is applied to `mode`.
    """
    fresh, descriptor = _new_file_beside(path, mode)
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
        os.replace(fresh, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(fresh)
        raise


def is_stream(path: str) -> bool:
    """Return whether the path is something other than a file or a folder, such as a pipe or a device."""
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


def check_output(path: str) -> None:
    """Raise OSError if `write_output` cannot write to this path."""
    if os.path.isdir(path):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    place = target(path)
    if not is_stream(path):
        fresh, descriptor = _new_file_beside(place, 0o600)
        os.close(descriptor)
        os.unlink(fresh)


def write_output(path: str, content: bytes) -> None:
    """Write to a file, pipe or device that the user has named. Raises OSError.

    A file is replaced as a whole: if the process is killed while it writes, the earlier content remains.
    """
    place = target(path)
    if not is_stream(path):
        replace(place, content)
        return
    # With O_NONBLOCK, opening a pipe without a reader fails instead of blocking.
    descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
    os.set_blocking(descriptor, True)
    with open(descriptor, "wb") as stream:
        stream.write(content)


def read_regular(path: str) -> bytes:
    """Return the content of a file. Raises OSError, also for a pipe or device, where reading could block forever."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", path)
        return file.read()


def _new_file_beside(path: str, mode: int) -> tuple[str, int]:
    fresh = os.path.join(os.path.dirname(path), f".raydap-{secrets.token_hex(8)}")
    return fresh, os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
