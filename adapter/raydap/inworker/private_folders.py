"""Folders for code that Python imports: no other user can change, rename or replace their contents.

Ray's session folder is not suitable: Ray gives it the mode 0777, so every user can rename its contents.
"""

import os
import stat
import tempfile


def private_folder(prefix: str) -> str:
    """Make a new folder with mode 0700, and return its path. Raises OSError."""
    return tempfile.mkdtemp(prefix=prefix, dir=safe_parent())


def safe_parent() -> str:
    """Return the first folder for temporary files in which other users cannot rename this user's files.

    Raises PermissionError if there is none.
    """
    folders = [tempfile.gettempdir(), "/tmp", "/var/tmp"]
    for folder in map(os.path.realpath, folders):
        if os.path.isdir(folder) and is_safe(folder):
            return folder
    shared = " and in ".join(dict.fromkeys(folders))
    raise PermissionError(
        f"other users can rename files in {shared}; set TMPDIR to a folder that only you can write to"
    )


def is_safe(folder: str) -> bool:
    """Return whether this folder and all above it belong to this user or to root, and no other user can write to them.

    A folder with the sticky bit, such as /tmp, counts as safe: in it, users can rename only their own files (inode(7)).
    `folder` is an absolute path without symbolic links.
    """
    while True:
        status = os.stat(folder)
        is_shared = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not status.st_mode & stat.S_ISVTX
        if is_shared or status.st_uid not in (0, os.getuid()):
            return False
        if folder == os.path.dirname(folder):
            return True
        folder = os.path.dirname(folder)


def check_private(folder: str) -> None:
    """Raise PermissionError unless the path is a folder, and no link to one, that only this user can enter."""
    status = os.lstat(folder)
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o077:
        raise PermissionError(f"{folder} is not a folder that only this user can enter")
