"""The input of the rules: a parsed Python file."""

from dataclasses import dataclass

from raydap.lsp.analysis.syntax import ParsedFile
from raydap.lsp.analysis.worker_code import WorkerCode


@dataclass(frozen=True, slots=True)
class PythonFile:
    """A parsed Python file."""

    lines: list[bytes]
    """The lines with their line ends. Like Python, a line ends only at CR, LF or both."""
    program: ParsedFile
    """The scopes, calls and assignments of the file."""
    workers: WorkerCode
    """The functions of the file that run in workers."""
