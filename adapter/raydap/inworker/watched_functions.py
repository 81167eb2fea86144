"""One watchpoint, and one watched function; runs in the worker."""

import ast
from typing import Any

from .watched_code import LineUse, evaluator, has_scopes, is_condition, is_plain, lines_to_check, roots_of
from .watched_places import variables_of
from .watched_values import MISSING, PRIMITIVES

UNCHANGING = PRIMITIVES | {str, bytes}
"""The types of values that only an assignment changes."""

_STARRED = {0: 0, 4: 1, 8: 1, 12: 2}
"""The number of arguments with stars, by their flags in a code object."""

_EVERY = LineUse(True, True, 0)


class ProcessWatch:
    """One watchpoint in this process."""

    def __init__(self, spec: "dict[str, Any]") -> None:
        self.spec = spec
        """The watchpoint as the core sends it."""
        self.number: int = spec["number"]
        self.paths = _paths(spec)
        """The paths that the file can have, as pydevd normalizes them."""
        text = spec["expression"].strip()
        tree = ast.parse(text, mode="eval")
        self.code = compile(tree, "<raydap watch>", "eval")
        self.condition = compile(spec["condition"].strip(), "<raydap watch>", "eval") if spec["condition"] else None
        self.roots = roots_of(tree)
        self.name = tree.body.id if isinstance(tree.body, ast.Name) else ""
        """The expression, if it is only the name of a variable."""
        self.is_plain = is_plain(tree)
        self.becomes_true = is_condition(tree)
        self.is_call = isinstance(tree.body, ast.Call)
        self.has_scopes = has_scopes(tree)
        self.hits = 0
        self.is_true: bool | None = None
        """Whether a condition was true when it was last evaluated; None before that."""
        self.note = ""
        """The sentence about a value that cannot be compared."""
        self.frames: dict[int, list[Any]] = {}
        """By the identity of a frame: the mark of the value, its text if the mark is not the value, the last line
        that may have changed it, and the lines that are not evaluated again (LineUse.once)."""

    def read(self, frame: Any) -> Any:
        """Return the value of the expression in a frame, MISSING if it fails."""
        try:
            names = variables_of(frame)
            if self.name and self.name in names:
                return names[self.name]
            if self.has_scopes:
                return eval(self.code, {**frame.f_globals, **names})
            return eval(self.code, frame.f_globals, names)
        except Exception:
            return MISSING

    def is_known(self, value: Any, frame: Any) -> bool:
        """Return whether only an assignment can change the value, because all its variables are numbers or texts."""
        if self.name:
            return type(value) in UNCHANGING or value is MISSING
        names = variables_of(frame)
        return all(name not in names or type(names[name]) in UNCHANGING for name in self.roots)


class Record:
    """One code object of a watched function."""

    def __init__(self, code: Any, watches: "list[ProcessWatch]", by_line: bool) -> None:
        self.code = code
        self.watches = watches
        self.calls = 0
        """The calls since the first watchpoint was set."""
        arguments = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + _STARRED[code.co_flags & 12]]
        local = {*code.co_varnames} - {*code.co_cellvars}
        self.plain = {each.number for each in watches if each.is_plain and each.roots <= local}
        """The numbers of the watchpoints whose value only an assignment can change."""
        self.unset = {each.number for each in watches if each.name in local and each.name not in arguments}
        """The numbers of the watchpoints on a variable that has no value at the beginning of a call."""
        self.by_line = by_line
        self.lines: dict[int, list[tuple[ProcessWatch, LineUse]]] = {}
        """The work of the watchpoints at each line. Lines without any are left out."""
        self.quick: dict[int, tuple[ProcessWatch, str, Any, bool, bool]] = {}
        """By line, if there is one evaluation and nothing else: the watchpoint, its variable, the function for other
        expressions, whether to evaluate once in a call, and whether the expression runs no code of the user's.
        Comparing the value itself is then enough to see that nothing has changed."""
        self.ends: set[int] = set()
        """The lines that may change a value and from which the function may return."""
        self.sort_lines()

    def sort_lines(self) -> None:
        """Find the lines that matter."""
        self.lines.clear()
        self.quick.clear()
        for watch in self.watches if self.by_line else ():
            uses, effects = lines_to_check(self.code, watch.roots, watch.number in self.plain)
            self.ends |= effects
            for line, use in uses.items():
                self.lines.setdefault(line, []).append((watch, use))
        local = {*self.code.co_varnames} - {*self.code.co_cellvars}
        functions: dict[int, Any] = {}
        for line, wanted in self.lines.items():
            watch, use = wanted[0]
            is_name = watch.name in local
            if len(wanted) > 1 or not use.evaluates or use.notes:
                continue
            if not is_name and watch.number not in functions:
                plain = UNCHANGING if watch.number in self.plain else None
                functions[watch.number] = evaluator(watch.spec["expression"].strip(), self.code, plain)
            if is_name or functions[watch.number] is not None:
                name, is_plain = watch.name if is_name else "", watch.number in self.plain
                self.quick[line] = watch, name, functions.get(watch.number), use.once, is_plain

    def at(self, line: int) -> "list[tuple[ProcessWatch, LineUse]] | None":
        """Return what the watchpoints do at a line; None for nothing."""
        return self.lines.get(line) if self.by_line else [(each, _EVERY) for each in self.watches]


def _paths(spec: "dict[str, Any]") -> "set[str]":
    from pydevd_file_utils import map_file_to_server

    return {normal_path(map_file_to_server(each)) for each in spec["paths"]}


def normal_path(path: str) -> str:
    """Return the path of a file as pydevd compares it."""
    from pydevd_file_utils import get_abs_path_real_path_and_base_from_file

    return str(get_abs_path_real_path_and_base_from_file(path)[1])
