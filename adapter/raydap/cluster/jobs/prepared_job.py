"""Makes the program of a submitted job a prepared one, wherever in the cluster its driver runs."""

import re
from collections.abc import Sequence
from importlib import resources

from raydap.inworker.agent_code import bare_source, packed_start_files

_KEY = "raydap"

BOOT = f'import json,os;exec(json.loads(os.environ["RAY_JOB_CONFIG_JSON_ENV_VAR"])["metadata"]["{_KEY}"])'
"""What `python -c` runs in place of the program, with the program's command line in sys.argv."""


def command(python: str, program: Sequence[str]) -> list[str]:
    """The command of the job. `program` is what follows the interpreter and its options."""
    return [python, "-c", BOOT, *program]


def metadata(session: str, name: str, children: bool) -> dict[str, str]:
    """The job's, with what the command needs (inworker/job_start.py). Ray shows it to whom it shows the job; there is
    no secret in it. `session` is the cluster's, and `name` is under what raydap listens there. `children`: the
    program's subprocesses have agents, too."""
    packed = packed_start_files(str(resources.files("raydap.inworker")))
    code = [_read("raydap.cluster.machine", "raylets.py")]
    code += (_read("raydap.inworker", f"{name}.py") for name in ("private_folders", "start_files", "job_start"))
    code.append(f"start(sockets_folder, {packed!r}, {session!r}, {name!r}, {children!r})\n")
    return {_KEY: "\n".join(code)}


def _read(package: str, name: str) -> str:
    """Return the source of a module without its imports of the others, which are run before it in one namespace."""
    text = bare_source(resources.files(package).joinpath(name).read_text(encoding="utf-8"))
    return re.sub(r"^from \..*\n", "", text, flags=re.MULTILINE)
