"""Prepares the program of a submitted job for an agent, wherever in the cluster its driver runs."""

import re
from collections.abc import Sequence
from importlib import resources

from raydap.inworker.agent_code import bare_source, packed_start_files

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
    packed = packed_start_files(str(resources.files("raydap.inworker")))
    code = [_read("raydap.cluster.machine", "raylets.py")]
    code += (_read("raydap.inworker", f"{name}.py") for name in ("private_folders", "start_files", "job_start"))
    code.append(f"start(sockets_folder, {packed!r}, {session!r}, {name!r}, {children!r})\n")
    return {_KEY: "\n".join(code)}


def _read(package: str, name: str) -> str:
    """Return the source of a module without imports of the others, which run before it in one namespace."""
    text = bare_source(resources.files(package).joinpath(name).read_text(encoding="utf-8"))
    return re.sub(r"^from \..*\n", "", text, flags=re.MULTILINE)
