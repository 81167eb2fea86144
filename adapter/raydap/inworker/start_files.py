"""The files that a Python needs to begin with an agent, where raydap is not installed.

They are sent as text (bundle.py): with the program of a submitted job, and with the workers of every program.
"""

import base64
import json
import os
import zlib

from .private_folders import check_private, private_folder, safe_parent


def unpack(packed: str, folder: str) -> str:
    """Write the files into this folder, and return the folder of sitecustomize.py. Raises OSError."""
    at_start = os.path.join(folder, "at_start")
    os.mkdir(at_start)
    for name, source in json.loads(zlib.decompress(base64.b85decode(packed))).items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(source)
    return at_start


def unpack_once(packed: str) -> str:
    """Write the files for all processes of this user on this machine; return the folder of sitecustomize.py.

    The files are never removed. Raises OSError, also if another user has taken the name of the folder.
    """
    # Imported here, because most processes with an agent never need these modules.
    import hashlib
    import shutil

    digest = hashlib.sha256(packed.encode()).hexdigest()[:16]
    folder = os.path.join(safe_parent(), f"raydap-{os.getuid()}-{digest}")
    if not os.path.lexists(folder):
        # Another process may do the same at this moment, so the folder must be complete when it gets its name.
        fresh = private_folder(".raydap-")
        try:
            unpack(packed, fresh)
            os.rename(fresh, folder)
        except OSError:
            shutil.rmtree(fresh, ignore_errors=True)
            if not os.path.lexists(folder):
                raise
    check_private(folder)
    return os.path.join(folder, "at_start")
