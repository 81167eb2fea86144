"""The examination of a text, whose findings depend on the text alone."""

import re
from collections.abc import Collection

from raydap.lsp.analysis.findings import RuleFinding
from raydap.lsp.analysis.incremental import IncrementalReader
from raydap.lsp.analysis.marks import Mark, marks
from raydap.lsp.analysis.python_file import PythonFile
from raydap.lsp.analysis.worker_code import WorkerCode
from raydap.lsp.rules import launch_json
from raydap.lsp.rules.rule_table import BY_CODE, PYTHON_CHECKS

MAX_CHARACTERS = 1_000_000
"""The longest text that is examined. A text of this length takes a second, and longer ones are not written by hand."""

_MENTIONS_RAY = re.compile(r"\bray\b|RAY_?DEB", re.IGNORECASE)
_IGNORE = re.compile(rb"#\s*raydap:\s*ignore(?:\[([a-z, -]*)\])?", re.IGNORECASE)


class PythonExaminer:
    """The examination of one Python file after each of its changes."""

    def __init__(self) -> None:
        self._reader = IncrementalReader()
        self._file: PythonFile | None = None
        """The last text that could be parsed; None if it does not mention Ray or is too long."""

    @property
    def marks(self) -> list[Mark]:
        """The places where live workers are shown, in the last text that could be parsed."""
        return [] if self._file is None else marks(self._file)

    def may_end_in_comment(self, line: int) -> bool:
        """Return whether a comment can be added to a line of the last text that could be parsed."""
        return not self._reader.continues(line)

    def examine(self, text: str) -> list[RuleFinding] | None:
        """Return the findings in the order of the source; None if the text cannot be parsed.

        A text that is too long or does not mention Ray has no findings.

        A comment `# raydap: ignore` at the end of a line drops all findings of the line, and
        `# raydap: ignore[CODE]` drops the findings of one rule.
        """
        if len(text) > MAX_CHARACTERS or _MENTIONS_RAY.search(text) is None:
            self._file = None
            return []
        # Split bytes, because `str.splitlines` also splits at characters that end no line in Python and LSP.
        lines = text.removeprefix("\ufeff").encode("utf-8", "surrogatepass").splitlines(keepends=True)
        try:
            program = self._reader.read(lines)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
        file = self._file = PythonFile(lines, program, WorkerCode(program))
        findings = [finding for check in PYTHON_CHECKS for finding in check(file)]
        ignored = {line: _ignored(lines[line - 1]) for line in {one.span.end_line for one in findings}}
        kept = [one for one in findings if one.code not in ignored[one.span.end_line]]
        return sorted(kept, key=lambda one: one.span)


def examine_launch_json(text: str) -> list[RuleFinding]:
    """Return the findings of a launch.json; none if it is too long."""
    if len(text) > MAX_CHARACTERS:
        return []
    return list(launch_json.check(text))


def _ignored(line: bytes) -> Collection[str]:
    """Return the codes of the rules that a comment in a line ignores."""
    comment = _IGNORE.search(line)
    if comment is None:
        return ()
    codes = comment.group(1)
    return BY_CODE if codes is None else [code.strip().decode() for code in codes.lower().split(b",")]
