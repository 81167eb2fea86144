"""The work of Ray's setup_worker.py without an import of Ray, which takes 0.3 s of a processor.

A worker with a runtime_env starts in Ray's `setup_worker.py`, which sets the environment variables and then replaces
itself by the worker. This file builds the same command for workers in Python, and runs Ray's file for all others.
"""

import argparse
import json
import os
import re
import runpy
import shlex
import sys
from pathlib import Path
from typing import Any

PARSER = argparse.ArgumentParser()
PARSER.add_argument("--serialized-runtime-env-context")
PARSER.add_argument("--language")


def command_of(context: dict[str, Any], arguments: list[str]) -> str:
    """Return the shell command of a worker (ray/_private/runtime_env/context.py, exec_worker)."""
    prefix, python = context.get("command_prefix") or [], context.get("py_executable") or sys.executable
    return " ".join([*prefix, "exec", python, *map(shlex.quote, arguments)])


def set_variables(variables: dict[str, str]) -> None:
    """Set environment variables, and replace references to others (ray/_private/utils.py, update_envs)."""
    for name, value in variables.items():
        os.environ[name] = re.sub(r"\$\{[A-Z0-9_]+\}", "", os.path.expandvars(value))


def main() -> None:
    known, arguments = PARSER.parse_known_args()
    context = json.loads(known.serialized_runtime_env_context or "{}")
    if known.language != "PYTHON" or context.get("override_worker_entrypoint"):
        runpy.run_path(str(Path(arguments[0]).with_name("setup_worker.py")), run_name="__main__")
        return
    set_variables(context.get("env_vars") or {})
    os.execvp("bash", ["bash", "-c", command_of(context, arguments)])


if __name__ == "__main__":
    main()
