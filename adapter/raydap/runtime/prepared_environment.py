"""The environment variables that give drivers and workers an agent."""

import json
import os
from collections.abc import Mapping
from importlib import resources

from raydap.inworker.driver_setup import CLUSTER_HOOK, SETUP_HOOK_VARIABLE


def driver(
    environ: Mapping[str, str], raydap: str = "", folder: str = "", wait: bool = False, children: bool = True
) -> dict[str, str]:
    """Return the variables to add to the environment of a program, `environ`, so that it has an agent.

    The program removes them when it begins (inworker/at_start/sitecustomize.py). `raydap` is the path of the socket
    that its agents call; without it they call each raydap that debugs their cluster. `folder` is for the driver's own
    socket until the driver has joined a cluster. With `wait`, the program begins only when a raydap that listens in the
    folder debugs it. With `children`, the Python processes that it starts or forks have agents, too.
    """
    added = _with_folder(environ, "at_start")
    if folder:
        settings = {"raydap": raydap, "folder": folder, "wait": wait, "children": children}
        added["RAYDAP_AGENT"] = json.dumps({**settings, "pythonpath": environ.get("PYTHONPATH")})
    return added


def is_off(environ: Mapping[str, str]) -> bool:
    """Return whether this environment forbids agents in a process and in the processes that it starts."""
    return environ.get("RAYDAP") == "off"


def cluster(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables to add to the environment of `ray start` (inworker/for_cluster/sitecustomize.py)."""
    return {**_with_folder(environ, "for_cluster"), SETUP_HOOK_VARIABLE: CLUSTER_HOOK}


def _with_folder(environ: Mapping[str, str], name: str) -> dict[str, str]:
    folder = str(resources.files("raydap.inworker").joinpath(name))
    return {"PYTHONPATH": os.pathsep.join([folder, *filter(None, [environ.get("PYTHONPATH")])])}
