"""A Python file as the rules see it."""

from dataclasses import dataclass

from raydap.lsp.analysis.syntax import Program
from raydap.lsp.analysis.worker_code import WorkerCode


@dataclass(frozen=True, slots=True)
class PythonFile:
    """`lines` are those of Python, which ends a line only at CR, LF or both. They have their ends."""

    lines: list[bytes]
    program: Program
    workers: WorkerCode
