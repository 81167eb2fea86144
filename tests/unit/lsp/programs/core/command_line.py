"""A command line with subcommands, whose functions are the driver."""

import logging
import os
import sys

import click
import ray

log = logging.getLogger(__name__)


@click.group()
@click.option("--debug", is_flag=True)
def cli(debug):
    if debug:
        os.environ["RAY_DEBUG"] = "1"
        os.environ["RAY_DEBUG_POST_MORTEM"] = "1"
    logging.basicConfig(level=logging.DEBUG if debug else logging.INFO)


@cli.command()
@click.argument("path")
def run(path):
    ray.init(address=os.environ.get("RAY_ADDRESS", "auto"), log_to_driver=False)
    refs = [count.options(num_cpus=0.1).remote(name) for name in os.listdir(path)]
    while refs:
        (ready,), refs = ray.wait(refs, timeout=5)
        log.info("%s", ray.get(ready))


@cli.command()
def shell():
    import code

    ray.init()
    code.interact(local={"ray": ray})


@ray.remote(runtime_env={"pip": ["numpy"], "env_vars": {"OMP_NUM_THREADS": "1"}})
def count(name):  # runs in: task
    try:
        return os.path.getsize(name)
    except Exception:
        return 0


if __name__ == "__main__":
    sys.exit(cli())
