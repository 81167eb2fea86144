"""The findings of a text. They depend on nothing else."""

import re

from raydap.lsp.analysis.findings import Finding
from raydap.lsp.analysis.incremental import IncrementalReader
from raydap.lsp.analysis.marks import Mark, marks
from raydap.lsp.analysis.python_file import PythonFile
from raydap.lsp.analysis.worker_code import WorkerCode
from raydap.lsp.rules import launch_json
from raydap.lsp.rules.rule_table import PYTHON_CHECKS

MAX_CHARACTERS = 1_000_000
"""Longer texts are not examined: one takes a second, and nobody writes them by hand."""

_MENTIONS_RAY = re.compile(r"\bray\b|RAY_?DEB", re.IGNORECASE)
_IGNORE = re.compile(rb"#\s*raydap:\s*ignore(?:\[([a-z, -]*)\])?", re.IGNORECASE)


class PythonExaminer:
    """Examines one file again and again, as it changes."""

    def __init__(self) -> None:
        self._reader = IncrementalReader()
        self._file: PythonFile | None = None

    @property
    def marks(self) -> list[Mark]:
        """Those of the last text that could be parsed."""
        return [] if self._file is None else marks(self._file)

    def may_end_in_comment(self, line: int) -> bool:
        """Whether a comment may be added to a line of the last text that could be parsed."""
        return not self._reader.goes_on(line)

    def examine(self, text: str) -> list[Finding] | None:
        """The findings in the order of the source; None if the text cannot be parsed, so that the last ones stay.

        A comment `# raydap: ignore` at the end of a line drops those of the line, and `# raydap: ignore[CODE]` those of
        one rule.
        """
        if len(text) > MAX_CHARACTERS or _MENTIONS_RAY.search(text) is None:
            self._file = None
            return []
        # Unlike those of str, the lines of bytes end as Python's and LSP's do.
        lines = text.removeprefix("\ufeff").encode("utf-8", "surrogatepass").splitlines(keepends=True)
        try:
            program = self._reader.read(lines)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
        file = self._file = PythonFile(lines, program, WorkerCode(program))
        findings = [finding for check in PYTHON_CHECKS for finding in check(file)]
        return sorted((one for one in findings if not _is_ignored(lines, one)), key=lambda one: one.span)


def examine_launch_json(text: str) -> list[Finding]:
    if len(text) > MAX_CHARACTERS:
        return []
    return list(launch_json.check(text))


def _is_ignored(lines: list[bytes], finding: Finding) -> bool:
    comment = _IGNORE.search(lines[finding.span.end_line - 1])
    if comment is None:
        return False
    codes = comment.group(1)
    return codes is None or finding.code in [code.strip().decode() for code in codes.lower().split(b",")]
