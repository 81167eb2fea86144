"""The environment in which a driver and its workers have agents (inworker/at_start/sitecustomize.py)."""

import json
import os
from collections.abc import Mapping
from importlib import resources


def driver(environ: Mapping[str, str], raydap: str = "", folder: str = "", wait: bool = False) -> dict[str, str]:
    """What to add to a program's environment, `environ`. The program takes it out again when it begins.

    `raydap` is the path that its agents call; without it they call each raydap that debugs their cluster. `folder` is
    for the driver's own socket until it has joined a cluster. With `wait` the program begins only when a raydap that
    listens in the folder debugs it.
    """
    path = environ.get("PYTHONPATH")
    at_start = str(resources.files("raydap.inworker").joinpath("at_start"))
    settings = {"raydap": raydap, "folder": folder, "wait": wait, "path": path}
    return {
        "PYTHONPATH": os.pathsep.join([at_start, *filter(None, [path])]),
        "RAYDAP_AGENT": json.dumps(settings),
    }
