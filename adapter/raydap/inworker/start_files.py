"""Writes the files with which a Python begins with an agent, where raydap is not installed.

They travel as text (agent_code.py): with the program of a submitted job, and with the workers of every program.
"""

import base64
import json
import os
import zlib


def unpack(packed: str, folder: str) -> str:
    """The folder of sitecustomize.py. Raises OSError."""
    at_start = os.path.join(folder, "at_start")
    os.mkdir(at_start)
    for name, source in json.loads(zlib.decompress(base64.b64decode(packed))).items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(source)
    return at_start


def unpack_once(packed: str, session: str) -> str:
    """The same, in the folder of a Ray session, for all processes of a node. It stays there as long as the session's
    own files. Raises OSError."""
    # Most processes with an agent never need these.
    import hashlib
    import shutil
    import tempfile

    folder = os.path.join(session, "raydap-" + hashlib.sha256(packed.encode()).hexdigest()[:16])
    if not os.path.isdir(folder):
        # Others may do the same just now, and it has to be whole as soon as it has this name.
        fresh = tempfile.mkdtemp(prefix=".raydap-", dir=session)
        try:
            unpack(packed, fresh)
            os.rename(fresh, folder)
        except OSError:
            shutil.rmtree(fresh, ignore_errors=True)
            if not os.path.isdir(folder):
                raise
    if os.stat(folder).st_uid != os.getuid():
        raise PermissionError(f"{folder} belongs to another user")
    return os.path.join(folder, "at_start")
