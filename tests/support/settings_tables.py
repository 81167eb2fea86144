"""The tables of the manual that come from code; run it to write them into their pages."""

import re
from collections.abc import Iterable
from pathlib import Path

from raydap.analysis.ray_settings import DEFAULTS, TIME_LIMITS, VALUES, TimeLimit
from raydap.inworker.replaced_functions import ROWS

ROOT = Path(__file__).parents[2]


def _table(*rows: Iterable[str]) -> str:
    head, *body = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([head, re.sub(r"[^|]+", "---", head), *body])


def _limits(limits: Iterable[TimeLimit]) -> str:
    rows = [(f"`{each.setting}`", each.default, f"{each.effect}", f"`{each.remedy}`") for each in limits]
    return _table(("limit", "default", "when it is over", "while you debug"), *rows)


def _values() -> str:
    rows = [
        (f"`{name}`", " ".join(f"`{value}`: {effect}." for value, effect in values.items()), f"`{DEFAULTS[name]}`")
        for name, values in VALUES.items()
    ]
    return _table(("variable", "values", "default"), *rows)


def _replaced() -> str:
    rows = [
        (", ".join(f"`{path.replace(':', '.')}`" for path in paths.split()), where, why, until, " ".join(stays))
        for paths, where, until, why, *stays in ROWS
    ]
    return _table(("functions", "where", "because", "until", "why not earlier"), *rows)


TABLES = {
    "docs/usage/doctor.md": _limits(TIME_LIMITS),
    "adapter/raydap/lsp/pages/timeout-while-stopped.md": _limits(
        [each for each in TIME_LIMITS if each.function or each.setting.startswith("DeploymentResponse")]
    ),
    "adapter/raydap/lsp/pages/ray-debug-value.md": _values(),
    "docs/design/replaced-functions.md": _replaced(),
}
"""The table of each page."""


def with_table(text: str, table: str) -> str:
    """Return the text of a page with its table in place of the one that has the same head. Raises ValueError."""
    head = re.escape(table.partition("\n")[0])
    renewed, count = re.subn(rf"^{head}\n(?:\|.*\n?)*", lambda _: f"{table}\n", text, flags=re.MULTILINE)
    if count != 1:
        raise ValueError(f"{count} tables with this head")
    return renewed


if __name__ == "__main__":
    for name, table in TABLES.items():
        page = ROOT / name
        page.write_text(with_table(page.read_text("utf-8"), table), "utf-8")
