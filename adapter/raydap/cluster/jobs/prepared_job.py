"""Prepares the program of a submitted job for an agent, wherever in the cluster its driver runs."""

from collections.abc import Sequence
from importlib import resources

from raydap.inworker.bundle import AGENT, load, packed_start_files

_KEY = "raydap"

BOOT = f'import json,os;exec(json.loads(os.environ["RAY_JOB_CONFIG_JSON_ENV_VAR"])["metadata"]["{_KEY}"])'
"""The code that `python -c` runs in place of the program, with the program's command line in sys.argv."""


def command(python: str, program: Sequence[str]) -> list[str]:
    """Return the command of the job. `program` follows the interpreter and its options."""
    return [python, "-c", BOOT, *program]


def metadata(session: str, name: str, children: bool) -> dict[str, str]:
    """Return the job's metadata, which contain the code that the command runs (inworker/job_start.py).

    Ray shows the metadata to everyone who can see the job, so they contain no secret. `session` is the name of the
    cluster's session, and raydap listens there under `name`. With `children`, the program's subprocesses have agents,
    too.
    """
    folder = str(resources.files("raydap.inworker"))
    start = f"job_start.start({packed_start_files(folder)!r}, {session!r}, {name!r}, {children!r})"
    return {_KEY: f"{load(folder, AGENT, 'job_start')}.{start}"}
