"""Writes the files with which a Python begins with an agent, where raydap is not installed.

They travel as text (agent_code.py): with the program of a submitted job, and with the workers of every program.
"""

import base64
import json
import os
import zlib

from .private_folders import check_private, private_folder, safe_parent


def unpack(packed: str, folder: str) -> str:
    """Write the files into this folder; return the folder of sitecustomize.py. Raises OSError."""
    at_start = os.path.join(folder, "at_start")
    os.mkdir(at_start)
    for name, source in json.loads(zlib.decompress(base64.b85decode(packed))).items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(source)
    return at_start


def unpack_once(packed: str) -> str:
    """Write the files for all processes of this user on this machine; return the folder of sitecustomize.py.

    They stay there. Raises OSError, also if another user has taken the name of the folder.
    """
    # Most processes with an agent never need these.
    import hashlib
    import shutil

    digest = hashlib.sha256(packed.encode()).hexdigest()[:16]
    folder = os.path.join(safe_parent(), f"raydap-{os.getuid()}-{digest}")
    if not os.path.lexists(folder):
        # Others may do the same just now, and it has to be whole as soon as it has this name.
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
