"""Whether a script may wait after a call. A call or statement may wait unless it is known to return immediately."""

import ast
from collections.abc import Iterable

from raydap.lsp.analysis.python_file import PythonFile
from raydap.lsp.analysis.scopes import Scope
from raydap.lsp.analysis.syntax import DECORATED, CallSite

_QUICK = {
    *(f"builtins.{name}" for name in ("abs", "bool", "float", "format", "id", "int", "isinstance", "len", "print")),
    *(f"builtins.{name}" for name in ("range", "repr", "round", "str", "type")),
    *(f"logging.{name}" for name in ("basicConfig", "critical", "debug", "error", "exception", "getLogger", "info")),
    "argparse.ArgumentParser",
    "logging.warning",
    "os.environ.get",
    "os.environ.setdefault",
    "os.getenv",
    "os.getpid",
    "os.path.join",
    "os.putenv",
    "ray.available_resources",
    "ray.cluster_resources",
    "ray.init",
    "ray.is_initialized",
    "ray.nodes",
    "ray.put",
    "ray.remote",
    "ray.shutdown",
    "sys.exit",
    "time.monotonic",
    "time.perf_counter",
    "time.time",
    "warnings.warn",
}
"""The functions that are known to return immediately."""

_QUICK_METHODS = {
    "argparse.ArgumentParser": {"add_argument", "parse_args"},
    "logging.getLogger": {"critical", "debug", "error", "exception", "info", "setLevel", "warning"},
}
"""Methods that return immediately, by the functions that make their objects."""

_OUTLIVING = {"_thread", "atexit", "concurrent", "multiprocessing", "threading"}
"""Modules that can keep a process alive after its last statement, or run code then."""

_LOOPS = (ast.For, ast.AsyncFor, ast.While)


class Script:
    """The facts of a whole file that the rule needs for each task, gathered once: there may be thousands of tasks."""

    def __init__(self, file: PythonFile) -> None:
        self._file = file
        program = file.program
        self.read: set[str] = set()
        """The names that the file reads."""
        self._outlives = any(line.startswith((b"# %%", b"# In[")) for line in file.lines)
        """Whether the process may continue after its last statement, as with cells of a notebook."""
        self._inner_waits = False
        """Whether a statement in a function, outside of workers' code, may wait."""
        self._last_wait = 0
        """The last line at the top level that may wait; 0 without one."""
        self._last_import = 0
        """The line of the last import outside of functions; 0 without one."""
        loops: list[tuple[int, int]] = []
        self._read_nodes(loops)
        self._loops = _lines(loops)
        driver_calls = [call for call in program.calls if file.workers.role(call.scope) is None]
        inner = [call for call in driver_calls if not _runs_with_module(call.scope)]
        # A call of a function of this file returns immediately if nothing in any function of the file may wait.
        self._quick_functions = not self._inner_waits and all(self._is_quick(call, True) for call in inner)
        for call in driver_calls:
            if _runs_with_module(call.scope) and not self._is_quick(call, self._quick_functions):
                self._last_wait = max(self._last_wait, _last_line(call.node))
        starts = [call for call in driver_calls if _is_remote(call)]
        self._last_start = starts[-1].node if len(starts) == 1 else None
        if starts and all(call.scope is program.module for call in starts):
            self._last_start = max(starts, key=lambda call: (call.node.lineno, call.node.col_offset)).node

    def _read_nodes(self, loops: list[tuple[int, int]]) -> None:
        functions = {scope.node: scope for scope in self._file.program.scopes if not scope.is_class}
        # Each node, whether it is in a function, and whether it is in code of workers.
        waiting: list[tuple[ast.AST, bool, bool]] = [(self._file.program.module.node, False, False)]
        while waiting:
            node, is_inner, is_worker = waiting.pop()
            if isinstance(node, ast.Name):
                if isinstance(node.ctx, ast.Load):
                    self.read.add(node.id)
                continue
            if isinstance(node, _LOOPS):
                loops.append((node.lineno, node.end_lineno or node.lineno))
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                self._outlives = self._outlives or any(name in _OUTLIVING for name in _modules(node))
                if not is_inner:
                    self._last_import = max(self._last_import, node.lineno)
            elif not is_worker and _may_wait(node):
                self._inner_waits = self._inner_waits or is_inner
                if not is_inner:
                    self._last_wait = max(self._last_wait, _last_line(node))
            scope = functions.get(node)  # type: ignore[call-overload]
            if scope is not None:
                is_inner, is_worker = True, is_worker or self._file.workers.role(scope) is not None
            waiting += [(child, is_inner, is_worker) for child in ast.iter_child_nodes(node)]

    def may_wait_after(self, call: CallSite) -> bool:
        """Return whether the script may wait after the call, so that the task may run."""
        if self._outlives:
            return True
        if call.scope is self._file.program.module:
            first = 1 if call.node.lineno in self._loops else call.node.lineno
            # Importing a module may run a whole program.
            return self._last_wait >= first or self._last_import > call.node.lineno
        # A function may be called from anywhere in the file, and from other files if the file is not a program.
        return not self._file.program.is_main or not self._quick_functions or self._last_wait > 0

    def is_last_start(self, call: CallSite) -> bool:
        """Return whether the call runs once, and no other task is started after it."""
        return call.node is self._last_start and call.node.lineno not in self._loops

    def _is_quick(self, call: CallSite, quick_functions: bool) -> bool:
        """Return whether a call returns immediately. `quick_functions` is whether the file's own functions do."""
        function = call.node.func
        if call.name in _QUICK or _is_remote(call):
            return True
        if isinstance(function, ast.Call):
            # ray.remote(num_cpus=1)(f)
            return self._file.program.dotted(function.func, call.scope) in _QUICK
        if isinstance(function, ast.Attribute):
            return function.attr == "options" or self._is_quick_method(function, call.scope)
        callee = self._file.program.definition(function, call.scope)
        return (
            quick_functions
            and callee is not None
            and isinstance(callee.node, ast.FunctionDef)
            and not callee.node.decorator_list
            and self._file.workers.role(callee) is None
        )

    def _is_quick_method(self, function: ast.Attribute, scope: Scope) -> bool:
        made = self._file.program.value(function.value, scope)
        if not isinstance(made, ast.Call):
            return False
        return function.attr in _QUICK_METHODS.get(self._file.program.dotted(made.func, scope), ())


def _may_wait(node: ast.AST) -> bool:
    """Return whether a node other than a call may wait, such as a loop over an unknown object."""
    if isinstance(node, (ast.For, ast.comprehension)):
        return not isinstance(node.iter, (ast.Call, ast.Constant, ast.List, ast.Tuple, ast.Set, ast.Dict))
    if isinstance(node, ast.With):
        return not all(isinstance(item.context_expr, ast.Call) for item in node.items)
    if isinstance(node, DECORATED):
        return not all(isinstance(one, ast.Call) or _is_quick_decorator(one) for one in node.decorator_list)
    return isinstance(node, (ast.AsyncFor, ast.AsyncWith, ast.Await, ast.While, ast.Yield, ast.YieldFrom))


def _is_remote(call: CallSite) -> bool:
    return isinstance(call.node.func, ast.Attribute) and call.node.func.attr == "remote" and call.name != "ray.remote"


def _is_quick_decorator(decorator: ast.expr) -> bool:
    if isinstance(decorator, ast.Attribute):
        return decorator.attr in ("dataclass", "deployment", "remote")
    return isinstance(decorator, ast.Name) and decorator.id in ("classmethod", "dataclass", "property", "staticmethod")


def _runs_with_module(scope: Scope) -> bool:
    """Return whether code directly in the scope runs with the module, because it is not in a function."""
    return all(one.parent is None or one.is_class for one in scope.enclosing())


def _modules(node: ast.Import | ast.ImportFrom) -> list[str]:
    """Return the top-level packages that a statement imports from."""
    names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
    return [name.partition(".")[0] for name in names]


def _last_line(node: ast.AST) -> int:
    if isinstance(node, ast.comprehension):
        node = node.iter
    assert isinstance(node, (ast.expr, ast.stmt))
    return node.end_lineno or node.lineno


def _lines(ranges: Iterable[tuple[int, int]]) -> set[int]:
    """Return the lines in any of the ranges. The time is linear even for nested ranges."""
    lines: set[int] = set()
    last = 0
    for first, end in sorted(ranges):
        lines.update(range(max(first, last + 1), end + 1))
        last = max(last, end)
    return lines
