"""The command `raydap prepare`, which prints how to start programs and clusters whose processes raydap can reach."""

import json
import os
import shlex
import sys
from collections.abc import Mapping

import click

from raydap.cli import options
from raydap.presentation.safe_text import json_text
from raydap.runtime import prepared_environment


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
def prepare(as_json: bool) -> None:
    """Print how to start a program, a job or a cluster so that raydap can debug its processes.

    \b
    Examples:
      raydap prepare
      raydap prepare --json
    """
    driver = prepared_environment.driver(os.environ)
    cluster = prepared_environment.cluster(os.environ)
    entrypoint = [sys.executable, "-m", "raydap", "run"]
    if as_json:
        recipes = {"driver": driver, "ray_job_submit": entrypoint, "ray_start": cluster}
        options.print_result(json_text(json.dumps(recipes, indent=2)))
        return
    options.print_result(
        f"""\
A program, its driver and its workers:
  raydap run PROGRAM.py

The same, if something else starts the driver: give it this environment.
  {_variables(driver)} python PROGRAM.py

A job, if its driver runs on this machine:
  ray job submit -- {shlex.join(entrypoint)} PROGRAM.py

All workers of a cluster, for every program: start the cluster with this environment. Start drivers as shown above.
  {_variables(cluster)} ray start --head

Then attach and set breakpoints. Every process that reaches one stops; your code need not call breakpoint(). If raydap
runs on a node of the cluster, it also reaches the processes on all other nodes."""
    )


def _variables(environment: Mapping[str, str]) -> str:
    return " ".join(f"{name}={shlex.quote(value)}" for name, value in environment.items())
