"""An open document, with its diagnostics and their fixes."""

import time

from lsprotocol import types

from raydap.lsp.analysis.findings import Fix, RuleFinding
from raydap.lsp.analysis.marks import Mark
from raydap.lsp.analysis.variables import Blocks
from raydap.lsp.examination import PythonExaminer, examine_launch_json
from raydap.lsp.positions import Positions, units
from raydap.lsp.rules.rule_table import BY_CODE

MAX_DELAY_S = 2.0
"""The longest delay between the last change of a document and its examination. Only slow documents have a delay."""

_QUICK_S = 0.2
_SOURCE = "raydap"


class Document:
    """An open Python file or launch.json.

    `encoding` is the unit in which the client counts columns (LSP, PositionEncodingKind).
    """

    def __init__(self, uri: str, text: str, version: int | None, encoding: str) -> None:
        self.uri = uri
        self.text = text
        self.version = version
        self._encoding = encoding
        self._examiner = PythonExaminer()
        self._examined = ""
        """The last text that could be parsed. `_findings` and `_positions` belong to it."""
        self._findings: list[RuleFinding] = []
        self._positions = Positions("", encoding)
        self._took_s: float | None = None
        """Seconds that the last examination took; None before the second one."""
        self._now: tuple[str, Blocks, Positions] | None = None
        """The last result of `now`, with its text."""

    @property
    def delay_s(self) -> float:
        """Seconds to wait for a further change before the next examination."""
        return 0.0 if self._took_s is None or self._took_s < _QUICK_S else min(2 * self._took_s, MAX_DELAY_S)

    @property
    def marks(self) -> list[Mark]:
        """The places where live workers are shown, in the last text that could be parsed."""
        return [] if self.uri.endswith(".json") else self._examiner.marks

    def now(self) -> tuple[Blocks, Positions]:
        """Return the blocks and the positions of the present text, whether it has been examined or not."""
        if self._now is None or self._now[0] != self.text:
            self._now = self.text, Blocks(self.text), Positions(self.text, self._encoding)
        return self._now[1:]

    def columns(self, line: str, length: int) -> int:
        """Return the length of the first `length` characters of a line in the client's units."""
        return units(line[:length], self._encoding)

    def examine(self, ignored: frozenset[str]) -> list[types.Diagnostic] | None:
        """Return the diagnostics of the text, without the rules in `ignored`.

        Return None if the text cannot be parsed: the diagnostics of the last text that could be parsed stay valid.
        """
        is_first = not self._examined
        started = time.perf_counter()
        findings = self._examine()
        # The first examination reads the whole file, so its duration does not count.
        self._took_s = None if is_first else time.perf_counter() - started
        if findings is None:
            return None
        self._examined = self.text
        self._findings = [finding for finding in findings if finding.code not in ignored]
        self._positions = Positions(self.text, self._encoding) if findings else Positions("", self._encoding)
        return [self._diagnostic(finding) for finding in self._findings]

    def actions(self, wanted: types.Range) -> list[types.CodeAction]:
        """Return the fixes of the findings in the lines of a range.

        Whole lines count, because editors request actions for the cursor, which may be anywhere in the line. If the
        text has changed since its examination, the positions of the findings are wrong, and there are no fixes.
        """
        if self._examined != self.text:
            return []
        actions: list[types.CodeAction] = []
        for finding in self._findings:
            diagnostic = self._diagnostic(finding)
            if diagnostic.range.start.line <= wanted.end.line and wanted.start.line <= diagnostic.range.end.line:
                fixes = [self._action(fix, diagnostic, index == 0) for index, fix in enumerate(finding.fixes)]
                actions += [*fixes, *self._ignore(finding, diagnostic)]
        return actions

    def _examine(self) -> list[RuleFinding] | None:
        return examine_launch_json(self.text) if self.uri.endswith(".json") else self._examiner.examine(self.text)

    def _diagnostic(self, finding: RuleFinding) -> types.Diagnostic:
        rule = BY_CODE[finding.code]
        return types.Diagnostic(
            self._positions.range(finding.span),
            finding.message,
            types.DiagnosticSeverity(rule.severity.value),
            finding.code,
            types.CodeDescription(rule.page.as_uri()),
            _SOURCE,
        )

    def _action(self, fix: Fix, diagnostic: types.Diagnostic, preferred: bool) -> types.CodeAction:
        edits = [types.TextEdit(self._positions.range(edit.span), edit.text) for edit in fix.edits]
        return self._code_action(fix.title, diagnostic, edits, preferred)

    def _ignore(self, finding: RuleFinding, diagnostic: types.Diagnostic) -> list[types.CodeAction]:
        """Return the action that adds a comment to ignore the finding; none where a comment is not possible."""
        line = finding.span.end_line
        if self.uri.endswith(".json") or not self._examiner.may_end_in_comment(line):
            return []
        edit = types.TextEdit(self._positions.end_of_line(line), f"  # raydap: ignore[{finding.code}]")
        return [self._code_action(f"Ignore {finding.code} on this line", diagnostic, [edit], False)]

    def _code_action(
        self, title: str, diagnostic: types.Diagnostic, edits: list[types.TextEdit], preferred: bool
    ) -> types.CodeAction:
        return types.CodeAction(
            title,
            types.CodeActionKind.QuickFix,
            [diagnostic],
            preferred,
            edit=types.WorkspaceEdit({self.uri: edits}),
        )
