"""The command `raydap doctor`, which reports what keeps debugging from working on a cluster, and what to do."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.text import Text

from raydap import safe_files
from raydap.cli import completing, options, signals, system_limits
from raydap.doctor.finding import FAULTS, Finding
from raydap.presentation.safe_text import one_line
from raydap.terminal import screen

if TYPE_CHECKING:
    # It imports all modules that query clusters, so it would make help and shell completion slow.
    from raydap.doctor.facts import SourceBreakpoint

_COLOURS = {"error": "bold red", "warning": "bold yellow", "note": "bold cyan", "ok": "green", "skipped": "dim"}


class Break(click.ParamType[Any]):
    """An argument FILE:LINE, which names a file of this machine."""

    name = "FILE:LINE"

    def convert(
        self, value: str | SourceBreakpoint, param: click.Parameter | None, ctx: click.Context | None
    ) -> SourceBreakpoint:
        """Return the breakpoint with the text of its file."""
        from raydap.doctor.facts import SourceBreakpoint

        if isinstance(value, SourceBreakpoint):
            return value
        name, _, line = value.rpartition(":")
        if not name or not line.isascii() or not line.isdecimal() or not 0 < int(line[:10]) < 10**9:
            self.fail(f'"{value}" is not FILE:LINE; write it like train.py:42.', param, ctx)
        try:
            path = Path(name).expanduser().absolute()
            return SourceBreakpoint(Path(os.path.normpath(path)), int(line), safe_files.read_regular(str(path)))
        except (OSError, ValueError, RuntimeError) as error:
            reason = getattr(error, "strerror", None) or str(error).rstrip(".")
            self.fail(f'"{name}" cannot be read: {reason}; give a file of this machine.', param, ctx)


@click.command()
@options.dashboard
@click.option(
    "--break",
    "breakpoints",
    type=Break(),
    multiple=True,
    shell_complete=completing.files,
    help="Check why this breakpoint is not hit.",
)
@click.option("--no-nodes", is_flag=True, help="Start nothing on nodes; inspect only the nodes on this machine.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
@click.option("--verbose", "-v", is_flag=True, help="Also print the checks that found no problem, and the log.")
def doctor(
    dashboard: str | None, breakpoints: tuple[SourceBreakpoint, ...], no_nodes: bool, as_json: bool, verbose: bool
) -> None:
    """Report what prevents debugging on a cluster, why it matters, and what to do.

    The exit code is 1 if a warning or an error was found, and 2 for wrong arguments. This command attaches
    to no worker and connects to no debug port.

    \b
    Examples:
      raydap doctor
      raydap doctor --break train.py:42
      raydap doctor --dashboard http://127.0.0.1:8265 --no-nodes
    """
    from raydap.doctor import diagnosis, gathering

    system_limits.warn()
    if verbose:
        options.start_log(None, verbose)
    else:
        logging.getLogger().addHandler(logging.NullHandler())
    # Standard error does not mix with the result.
    terminal = screen.console(stderr=True)
    with terminal.status("looking for the cluster") as status:
        facts = signals.run(
            gathering.gather(dashboard, breakpoints, os.environ, not no_nodes, lambda text: status.update(Text(text)))
        )
    findings = diagnosis.diagnose(facts)
    if as_json:
        screen.print_json(findings)
    else:
        show(screen.console(), findings, verbose)
    raise SystemExit(0 if diagnosis.is_healthy(findings) else 1)


def show(console: Console, findings: Iterable[Finding], verbose: bool) -> None:
    """Print each finding: what, why, and what to do.

    Without `verbose`, findings that are in order are only counted, and skipped checks only named.
    """
    findings = list(findings)
    for finding in findings:
        if finding.severity in (*FAULTS, "note") or verbose:
            _show(console, finding)
    skipped = [finding for finding in findings if finding.severity == "skipped"]
    if skipped and not verbose:
        console.print(f"Skipped: {', '.join(finding.check for finding in skipped)}. {skipped[0].why}")
    counts = {
        word: sum(finding.severity == word for finding in findings) for word in ("error", "warning", "note", "ok")
    }
    words = [
        f"{number} {word}{'s' if number != 1 and word != 'ok' else ''}" for word, number in counts.items() if number
    ]
    console.print(", ".join(words) or "no check was made", style="bold")


def _show(console: Console, finding: Finding) -> None:
    console.print(
        Text.assemble((f"{finding.severity}: ", _COLOURS[finding.severity]), (one_line(finding.what), "bold"))
    )
    if finding.why:
        console.print(Text(one_line(finding.why)))
    if finding.what_to_do:
        # The user may paste this text, be it a command or a part of a program or a configuration. So it is not wrapped.
        is_command = re.match(r"[\w./=-]+( |$)", finding.what_to_do) is not None
        console.print(Text(f"  {'$ ' if is_command else ''}{one_line(finding.what_to_do)}", "green"), soft_wrap=True)
    console.print()
