"""The table of all rules. The page that explains a rule to users is `pages/CODE.md`."""

from collections.abc import Callable, Iterator
from enum import Enum
from pathlib import Path
from typing import NamedTuple

from raydap.lsp.analysis.findings import RuleFinding
from raydap.lsp.analysis.python_file import PythonFile
from raydap.lsp.rules import (
    closures,
    debug_variables,
    environment,
    health_checks,
    hidden_errors,
    local_mode,
    terminal_input,
    timeouts,
    unawaited,
)

PAGES = Path(__file__).parent.parent / "pages"
"""The folder of the rules' pages."""


class Severity(Enum):
    """The severity of a rule, with the numbers of LSP's DiagnosticSeverity."""

    ERROR = 1
    """The problem breaks the program."""
    WARNING = 2
    """The problem breaks debugging."""
    INFORMATION = 3
    """The problem matters in some runs only."""


class Rule(NamedTuple):
    """A rule of the language server."""

    code: str
    """The name of the rule for users, such as `local-mode`."""
    severity: Severity
    """How much the problem matters."""
    title: str
    """A few words that describe what the rule finds."""

    @property
    def page(self) -> Path:
        """The path of the page that explains the rule to users."""
        return PAGES / f"{self.code}.md"


RULES = (
    Rule(terminal_input.PDB_IN_WORKER, Severity.ERROR, "a debugger that needs a terminal, in a worker"),
    Rule(terminal_input.INPUT_IN_WORKER, Severity.ERROR, "`input()` in a worker"),
    Rule(debug_variables.NAME, Severity.WARNING, "a misspelt variable of Ray's debugger"),
    Rule(debug_variables.VALUE, Severity.WARNING, "an invalid value of a variable of Ray's debugger"),
    Rule(debug_variables.LEGACY, Severity.WARNING, "`RAY_DEBUG=legacy`"),
    Rule(environment.AFTER_INIT, Severity.WARNING, "a variable of Ray's debugger, set after `ray.init`"),
    Rule(unawaited.RESULT_NOT_AWAITED, Severity.WARNING, "a task with a `breakpoint()` whose result is dropped"),
    Rule(timeouts.TIMEOUT_WHILE_STOPPED, Severity.INFORMATION, "a time limit that expires while a worker is stopped"),
    Rule(
        health_checks.HEALTH_CHECK_WHILE_STOPPED,
        Severity.INFORMATION,
        "a Serve replica that Serve ends while it is stopped",
    ),
    Rule(local_mode.LOCAL_MODE, Severity.WARNING, "`local_mode=True`"),
    Rule(hidden_errors.HIDDEN_ERROR, Severity.INFORMATION, "an `except` that hides why a `breakpoint()` failed"),
    Rule(closures.DEBUGGER_IN_CLOSURE, Severity.ERROR, "a debugger, frame or traceback that cannot be pickled"),
)

BY_CODE = {rule.code: rule for rule in RULES}

PYTHON_CHECKS: tuple[Callable[[PythonFile], Iterator[RuleFinding]], ...] = (
    terminal_input.check,
    environment.check_variables,
    environment.check_order,
    unawaited.check,
    timeouts.check,
    health_checks.check,
    local_mode.check,
    hidden_errors.check,
    closures.check,
)
"""The checks of Python files. A check may yield findings of several rules."""
