"""`make bench`: compare direct debugpy with raydap. Prints a table; nothing is asserted.

Results are written as JSON, and the curves over the number of workers as SVG, into the given folder.
"""

import argparse
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from rich.console import Console

from bench import (
    agents,
    cluster,
    crowd,
    idle_agent,
    language,
    large_cluster,
    over_relay,
    own_time,
    report,
    stepping,
    watching,
)
from bench.report import Row
from support import processes

PARTS: dict[str, Callable[[Path, bool], Iterator[Row]]] = {
    "own": own_time.measure,
    "large": large_cluster.measure,
    "idle": idle_agent.measure,
    "crowd": crowd.measure,
    "relay": over_relay.measure,
    "steps": stepping.measure,
    "watches": watching.measure,
    "ray": cluster.measure,
    "agents": agents.measure,
    "language": language.measure,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("output", type=Path, help="folder for the results")
    parser.add_argument("--quick", action="store_true", help="fewer samples and 100 workers: a look, no measurement")
    parser.add_argument("--only", choices=PARTS, action="append", help="a part to be measured; may be repeated")
    options = parser.parse_args()
    console = Console()
    if not console.is_terminal:
        console = Console(width=160)
    rows: list[Row] = []
    began = report.machine()
    console.print(began)
    options.output.mkdir(parents=True, exist_ok=True)
    processes.mark()
    try:
        with tempfile.TemporaryDirectory(prefix="raydap-bench-") as scratch:
            for name in options.only or PARTS:
                for row in PARTS[name](Path(scratch), options.quick):
                    rows.append(row)
                    console.print(f"  {row.name}: {report.p50(row.bridge):.4g} {row.unit}", highlight=False)
    finally:
        processes.end_marked(grace=10)
    report.show(rows, console)
    report.write(rows, began, options.output / "bench.json")
    curves = crowd.plot(rows)
    if curves:
        (options.output / "workers.svg").write_text(curves)
    console.print(f"written to {options.output}", highlight=False)


if __name__ == "__main__":
    main()
