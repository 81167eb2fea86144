"""`make steady`: run the whole suite several times in random order, beside two processes that are always busy.

A test that depends on its neighbours, on a free processor or on luck fails here sooner than on an idle machine.
Afterwards the folder .steady has the output of each run, and a file for each failure.
"""

import argparse
import contextlib
import os
import random
import shutil
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

BUSY = 2
"""The number of busy processes, which is the number of processors of the CI machines."""


def main() -> int:
    """Return 0 if all runs passed, else 1."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seed", type=int, help="of the first run; the others use the numbers that follow")
    parser.add_argument("--folder", type=Path, default=Path(".steady"))
    parser.add_argument("pytest", nargs="*", help="arguments of pytest, such as --numprocesses=2 and tests")
    options = parser.parse_args()
    seed = random.randrange(1_000_000) if options.seed is None else options.seed
    shutil.rmtree(options.folder, ignore_errors=True)
    codes = []
    for number in range(options.runs):
        folder = options.folder / f"run-{number + 1}"
        folder.mkdir(parents=True)
        click.echo(f"run {number + 1} of {options.runs}, in the order {seed + number}:")
        with busy(BUSY):
            codes.append(run(folder, seed + number, options.pytest))
    click.echo("\n".join(summary(options.folder, codes)))
    return int(any(codes))


@contextlib.contextmanager
def busy(count: int) -> Iterator[None]:
    """Run this many processes that each use a processor."""
    with contextlib.ExitStack() as stack:
        for _ in range(count):
            child = stack.enter_context(subprocess.Popen([sys.executable, "-c", "while True: pass"]))
            stack.callback(child.kill)
        yield


def run(folder: Path, seed: int, arguments: Sequence[str]) -> int:
    """Run pytest once and return its exit code. Print its output, and keep it in the folder."""
    # `make steady` sets PYTHONPATH so that this module is found. `make test` runs without it, and so do these runs.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, "-m", "pytest", "--progress", f"--random={seed}", f"--failures={folder}", *arguments]
    begun = time.monotonic()
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as child:
        assert child.stdout is not None
        with (folder / "output.txt").open("w") as output:
            for line in child.stdout:
                output.write(line)
                click.echo(line, nl=False)
    click.echo(f"this run took {(time.monotonic() - begun) / 60:.1f} min")
    return child.returncode


def summary(folder: Path, codes: Sequence[int]) -> Iterator[str]:
    """Yield a line for each test that failed at least once, with the files that contain the failures."""
    failures: dict[str, list[Path]] = defaultdict(list)
    for path in sorted(folder.glob("run-*/*.failure")):
        failures[path.read_text().partition("\n")[0]].append(path)
    for test, paths in sorted(failures.items()):
        yield f"{test} failed in {len(paths)} of {len(codes)} runs: {' '.join(map(str, paths))}"
    passed = sum(code == 0 for code in codes)
    yield f"{passed} of {len(codes)} runs passed"


if __name__ == "__main__":
    sys.exit(main())
