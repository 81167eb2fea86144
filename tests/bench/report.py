"""The results and their targets: a table for people, JSON for machines."""

import json
import math
import os
import platform
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import debugpy
from rich.console import Console
from rich.table import Table

import ray


@dataclass
class Row:
    """One line of the table.

    `direct` and `bridge` are samples in `unit`. `allowed` is the target, and `target` describes it. The median of
    `bridge` is compared with the target. Only rows with `direct` samples have a ratio.
    """

    name: str
    unit: str
    bridge: list[float]
    direct: list[float] = field(default_factory=list)
    target: str = ""
    allowed: float | None = None

    @property
    def ratio(self) -> float | None:
        """How many times faster the bridge is, or None without `direct` samples."""
        return p50(self.direct) / p50(self.bridge) if self.direct else None

    @property
    def met(self) -> bool | None:
        return None if self.allowed is None else p50(self.bridge) <= self.allowed


def against(
    name: str, direct: Sequence[float], bridge: Sequence[float], *, factor: float, extra: float = 0.0, unit: str = "ms"
) -> Row:
    """Return a row whose target is direct debugpy's median times `factor`, plus `extra`."""
    words = "<= direct"
    if factor < 0.5:
        words += f" / {1 / factor:.3g}"
    elif factor != 1:
        words += f" x {factor:.3g}"
    if extra:
        words += f" + {extra:g} {unit}"
    return Row(name, unit, list(bridge), list(direct), words, p50(direct) * factor + extra)


def within(name: str, bridge: Sequence[float], allowed: float, unit: str, direct: Sequence[float] = ()) -> Row:
    """Return a row whose target is a number."""
    return Row(name, unit, list(bridge), list(direct), f"<= {allowed:g} {unit}", allowed)


def p50(samples: Sequence[float]) -> float:
    return statistics.median(samples)


def p99(samples: Sequence[float]) -> float:
    """Return the 99th percentile by nearest rank: the largest of fewer than 100 samples."""
    return sorted(samples)[math.ceil(0.99 * len(samples)) - 1]


def machine() -> dict[str, Any]:
    return {
        "cpus": len(os.sched_getaffinity(0)),
        "system": platform.platform(),
        "python": platform.python_version(),
        "debugpy": debugpy.__version__,
        "ray": ray.__version__,
        "load": os.getloadavg(),
    }


def show(rows: Sequence[Row], console: Console) -> None:
    table = Table("measure", "n", "direct p50", "bridge p50", "bridge p99", "ratio", "target", "", title="make bench")
    for row in rows:
        mark = {None: "", True: "[green]met[/]", False: "[red]missed[/]"}[row.met]
        table.add_row(
            row.name,
            str(len(row.bridge)),
            f"{p50(row.direct):.4g} {row.unit}" if row.direct else "",
            f"{p50(row.bridge):.4g} {row.unit}",
            f"{p99(row.bridge):.4g} {row.unit}" if len(row.bridge) > 1 else "",
            f"{row.ratio:.3g}x" if row.ratio is not None else "",
            row.target,
            mark,
        )
    console.print(table)


def write(rows: Sequence[Row], began: dict[str, Any], path: Path) -> None:
    """Write the results as JSON.

    `began` describes the machine before the first measurement, so the load before and after is kept.
    """
    results = [{**asdict(row), "ratio": row.ratio, "met": row.met} for row in rows]
    path.write_text(json.dumps({"before": began, "after": machine(), "rows": results}, indent=1) + "\n")
