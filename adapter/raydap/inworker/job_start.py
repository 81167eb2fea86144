"""The preparation of a submitted job's program; runs on the driver's node, and then becomes the program.

The job's entrypoint is `python -c BOOT ...`, followed by the program's own command line. The code that BOOT runs is in
the metadata of the job (jobs/prepared_job.py), because raydap need not be installed on that node. The program finds the
sources of an agent in a folder, like a program of `raydap run`. Nothing else is changed: neither the job's runtime_env
nor its JobSupervisor.
"""

import json
import os
import sys

from .private_folders import private_folder
from .raylets import sockets_folder
from .start_files import unpack

JOB_CONFIG = "RAY_JOB_CONFIG_JSON_ENV_VAR"
"""Ray's variable with the runtime_env and the metadata of a job (dashboard/modules/job/job_supervisor.py)."""


def start(packed: str, session: str, name: str, children: bool) -> None:
    """Write the sources of an agent, set the environment, and become the program.

    `packed` are the sources. raydap listens under this `name` in the sockets folder of this Ray `session`, on each of
    its nodes. `children` is whether subprocesses have agents.
    """
    try:
        forget_metadata()
        sockets = sockets_folder(session)
        if not sockets:
            raise FileNotFoundError(f"no folder for the sockets of Ray's session {session}")
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
    """Remove raydap's part of the job's metadata, which each worker of the job would get otherwise."""
    config = json.loads(os.environ[JOB_CONFIG])
    config["metadata"].pop("raydap", None)
    os.environ[JOB_CONFIG] = json.dumps(config)
