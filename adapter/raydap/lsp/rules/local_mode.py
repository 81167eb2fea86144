"""The rule for `ray.init(local_mode=True)`."""

import ast
from collections.abc import Iterator

from raydap.lsp.analysis.findings import Fix, RuleFinding, span
from raydap.lsp.analysis.python_file import PythonFile
from raydap.lsp.rules.call_arguments import remove_argument

LOCAL_MODE = "local-mode"


def check(file: PythonFile) -> Iterator[RuleFinding]:
    """Yield the findings of the rule `local-mode`."""
    for call in file.program.calls_of("ray.init"):
        for keyword in call.node.keywords:
            if keyword.arg == "local_mode" and isinstance(keyword.value, ast.Constant) and keyword.value.value is True:
                text = (
                    "local_mode=True runs all tasks in this process, so raydap finds no workers. "
                    "Newer versions of Ray reject it. Without it, raydap stops in the workers."
                )
                edit = remove_argument(file, call.node, keyword)
                fixes = () if edit is None else (Fix("Remove local_mode", (edit,)),)
                yield RuleFinding(LOCAL_MODE, span(keyword), text, fixes)
