"""Prepares the program of a submitted job; runs on the driver's node in place of the program, which it becomes then.

The job's entrypoint is `python -c BOOT ...`, with the program's own command line behind. What it runs travels in the
metadata of the job (jobs/prepared_job.py), because raydap need not be installed there. The program finds the sources
of an agent in a folder, like one that `raydap run` starts, and nothing else is changed: neither the job's runtime_env
nor its JobSupervisor.
"""

import json
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # The texts of these files are run before this one.
    from raydap.inworker.private_folders import private_folder
    from raydap.inworker.start_files import unpack

JOB_CONFIG = "RAY_JOB_CONFIG_JSON_ENV_VAR"
"""Ray's variable with the runtime_env and the metadata of a job (dashboard/modules/job/job_supervisor.py)."""


def start(find: Callable[[str], str], packed: str, session: str, name: str, children: bool) -> None:
    """Becomes the program. `find` is `sockets_folder` of machine/raylets.py, and `packed` are the sources of an agent.
    raydap listens under this `name` in the folder of sockets of this Ray `session`, on each of its nodes."""
    try:
        forget_metadata()
        sockets = find(session)
        if not sockets:
            raise FileNotFoundError(f"no folder of Ray's session {session}")
        at_start = unpack(packed, private_folder("raydap-job-"))
        settings = {
            "raydap": os.path.join(sockets, name),
            "folder": sockets,
            "children": children,
            "temporary": True,
            "pythonpath": os.environ.get("PYTHONPATH"),
        }
        os.environ["RAYDAP_AGENT"] = json.dumps(settings)
        os.environ["PYTHONPATH"] = os.pathsep.join([at_start, *filter(None, [os.environ.get("PYTHONPATH")])])
    except Exception as error:
        # The program runs without a debugger rather than not at all.
        sys.stderr.write(f"raydap cannot debug this job: {error!r}\n")
        sys.stderr.flush()
    os.execv(sys.executable, [sys.executable, "-u", *sys.argv[1:]])


def forget_metadata() -> None:
    """Else each worker of the job would get it."""
    config = json.loads(os.environ[JOB_CONFIG])
    config["metadata"].pop("raydap", None)
    os.environ[JOB_CONFIG] = json.dumps(config)
