"""Files of jobs with a `working_dir`: where the client has them, and where a worker has them.

Ray unpacks a job's working_dir on each node into a folder `.../working_dir_files/_ray_pkg_<hash>` and runs its workers
there (ray/_private/runtime_env/working_dir.py). Modules come from that folder, but a pickled function carries the path
that it had at the driver, so a file of the job has two paths, and both can occur in one worker.
"""

import ast
import re

from raydap.core.settings import AttachSettings, LaunchSettings

WORKING_DIR = "[__import__('os').getcwd()]"
"""What to evaluate in a worker for `package`, with the context `clipboard`, which shortens nothing. A list, because a
string would be shown without its quotes."""

_PACKAGE = re.compile(r"(.*[/\\]_ray_pkg_[0-9a-f]+)(?:[/\\](.*))?", re.DOTALL)


def workspace(settings: AttachSettings) -> str | None:
    """The client's folder that jobs take as their working_dir, if it is known and nothing maps it otherwise."""
    if settings.path_mappings:
        return None
    if settings.workspace_folder is None and isinstance(settings, LaunchSettings) and settings.submit:
        return _folder(settings.cwd)
    return _folder(settings.workspace_folder)


def package(result: object) -> str | None:
    """The worker's package folder, from what WORKING_DIR gave; None if it runs somewhere else."""
    try:
        (path,) = ast.literal_eval(result) if isinstance(result, str) else ("",)
        found = _PACKAGE.fullmatch(path)
    except (SyntaxError, TypeError, ValueError):
        return None
    return None if found is None else found[1]


def shown(path: str, folder: str | None) -> str:
    """A worker's path as the client knows the file."""
    found = None if folder is None else _PACKAGE.fullmatch(path)
    return path if found is None else f"{folder}/{found[2] or ''}".rstrip("/")


def told(path: str, folder: str | None, package: str | None) -> list[str]:
    """All paths that a file of the client can have in a worker."""
    if folder is None or package is None or not path.startswith(f"{folder}/"):
        return [path]
    return [package + path[len(folder) :], path]


def is_clients(path: str, settings: AttachSettings) -> bool:
    """Whether a path that is shown lies in a folder which is mapped to one of the client's."""
    folder = workspace(settings)
    roots = [mapping.local_root for mapping in settings.path_mappings] + ([folder] if folder is not None else [])
    return any(path.startswith(root.rstrip("/\\") + separator) for root in roots for separator in "/\\")


def _folder(path: str | None) -> str | None:
    return path.rstrip("/") or None if path else None
