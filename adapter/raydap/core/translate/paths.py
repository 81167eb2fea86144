"""Files of jobs with a `working_dir` or `py_modules`: their paths for the client, and their paths in a worker.

Ray unpacks a job's working_dir on each node into a folder `.../working_dir_files/_ray_pkg_<hash>` and runs its workers
there (ray/_private/runtime_env/working_dir.py). Modules come from that folder, but a pickled function carries the path
that it had at the driver. So a file of the job has two paths, and both can occur in one worker.

A module of `py_modules` is in a folder `.../py_modules_files/_ray_pkg_<hash>`. It may come from any folder of the
client.
"""

import re

from raydap.core.settings import AttachSettings, LaunchSettings

_WINDOWS = re.compile(r"[A-Za-z]:([/\\]|$)|\\\\")
_PACKAGE = re.compile(r"(.*[/\\]_ray_pkg_[0-9a-f]+)(?:[/\\](.*))?", re.DOTALL)


def is_windows(path: str) -> bool:
    """Return whether a path begins as on Windows, with a drive or a share."""
    return _WINDOWS.match(path) is not None


def client_os(settings: AttachSettings) -> str:
    """Return the client's system as debugpy names it, derived from the form of the client's folders.

    pydevd uses it only for the path mappings: for the separators, and for whether case counts.
    """
    roots = [mapping.local_root for mapping in settings.path_mappings]
    return "windows" if any(map(is_windows, roots)) else "unix"


def workspace(settings: AttachSettings) -> str | None:
    """Return the client's folder that jobs use as their working_dir; None if it is unknown or paths are mapped."""
    if settings.path_mappings:
        return None
    if settings.workspace_folder is None and isinstance(settings, LaunchSettings) and settings.submit:
        return _folder(settings.cwd or (settings.program or "").rpartition("/")[0] or None)
    return _folder(settings.workspace_folder)


def package(folder: object) -> str | None:
    """Return the package folder that contains a worker's working directory or another path; None if none does."""
    found = _PACKAGE.fullmatch(folder) if isinstance(folder, str) else None
    return None if found is None else found[1]


def is_in_working_dir(path: str) -> bool:
    """Return whether a worker's path is in the package of a working_dir, not of `py_modules`."""
    found = package(path)
    return found is not None and re.search(r"[/\\]py_modules_files[/\\]", found) is None


def to_client(path: str, folder: str | None) -> str:
    """Return the client's path for a worker's path. `folder` is the client's folder of the working_dir."""
    found = _PACKAGE.fullmatch(path) if folder is not None and is_in_working_dir(path) else None
    if folder is None or found is None:
        return path
    return _joined(folder, found[2] or "")


def to_worker(path: str, folder: str | None, package: str | None) -> list[str]:
    """Return the paths that a file of the client can have in a worker, except those in `py_modules`."""
    inner = None if folder is None or package is None else _below(path, folder)
    if inner is None or package is None:
        return [path]
    return [f"{package}/{inner}", path]


def mapped(path: str, settings: AttachSettings, cwd: str) -> str:
    """Apply the path mappings to a worker's path, as debugpy does. The `remoteRoot` "." is the worker's `cwd`."""
    for mapping in settings.path_mappings:
        root = (cwd if mapping.remote_root == "." else mapping.remote_root).rstrip("/\\")
        if path.startswith((f"{root}/", f"{root}\\")):
            return _joined(mapping.local_root.rstrip("/\\"), path[len(root) + 1 :])
    return path


def in_workspace(path: str, settings: AttachSettings) -> str:
    """Return the path of a client's file in the working_dir of jobs, with slashes; "" if it is not there."""
    folder = workspace(settings)
    return "" if folder is None else _below(path, folder) or ""


def unmapped(path: str, settings: AttachSettings) -> list[str]:
    """Return a client's path, after the workers' paths for it by the path mappings.

    A path in the `remoteRoot` "." is relative.
    """
    found = []
    for mapping in settings.path_mappings:
        inner = _below(path, mapping.local_root)
        if inner is not None:
            found.append(inner if mapping.remote_root == "." else _joined(mapping.remote_root.rstrip("/\\"), inner))
    return [*found, path]


def is_clients(path: str, settings: AttachSettings) -> bool:
    """Return whether a path is in a folder of the client that corresponds to a folder of the worker."""
    folder = workspace(settings)
    roots = [mapping.local_root for mapping in settings.path_mappings] + ([folder] if folder is not None else [])
    return any(_below(path, root) is not None for root in roots)


def _below(path: str, root: str) -> str | None:
    """Return the rest of a client's path below a folder, with slashes; None if the path is elsewhere.

    On Windows, case does not count, and both separators are used.
    """
    root = root.rstrip("/\\") if is_windows(root) else root.rstrip("/")
    rest = path[len(root) :]
    if is_windows(root):
        same = path[: len(root)].replace("/", "\\").lower() == root.replace("/", "\\").lower()
        return rest[1:].replace("\\", "/") if same and rest[:1] in ("/", "\\") else None
    return rest[1:] if path.startswith(root) and rest[:1] == "/" else None


def _joined(folder: str, inner: str) -> str:
    """Return the client's path of a file in one of its folders."""
    if is_windows(folder):
        return f"{folder}\\{inner}".replace("/", "\\").rstrip("\\")
    return f"{folder}/{inner}".rstrip("/")


def _folder(path: str | None) -> str | None:
    return path.rstrip("/\\" if is_windows(path) else "/") or None if path else None
