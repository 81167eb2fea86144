"""The reload of the functions of one file name (code_reload.py); runs in the worker."""

import ast
import sys
from types import CellType, CodeType, FunctionType
from typing import Any

from .new_code import KeptError, NewCode, are_same, check, is_same, missing_names, qualified_names
from .safe_values import type_name

_HARMLESS = {"staticmethod": staticmethod, "classmethod": classmethod, "property": property}
"""Decorators of Python that raydap applies to a new method."""

_COMPILERS = ("numba", "jax", "jaxlib", "torch", "triton")
"""The packages that replace a function by one without Python code."""

_CONSTANTS = (int, float, complex, str, bytes, bool, type(None))
"""The types of values that are compared with those in the new text."""

_DEFS = (ast.FunctionDef, ast.AsyncFunctionDef)
"""The definitions of functions."""

_Names = dict[str, Any]


class ReloadReport:
    """The results of a reload in this process."""

    def __init__(self) -> None:
        self.changed: set[str] = set()
        self.added: set[str] = set()
        self.kept: set[tuple[str, str]] = set()
        """Functions that could not be changed or added, and other parts of the file, each with the reason."""
        self.running: set[str] = set()
        """Changed functions whose old code still runs."""


class FileReload:
    """The reload of the functions with one file name.

    A file can have several file names in a process (core/translate/paths.py).
    """

    def __init__(
        self, new: NewCode, functions: list[FunctionType], classes: dict[int, type], report: ReloadReport
    ) -> None:
        self._new = new
        self._functions = functions
        self._classes = classes
        self._report = report
        self._names = qualified_names(functions)

    def run(self) -> dict[str, list[CodeType]]:
        """Change and add the functions. Return the old codes of those that have changed, by name."""
        plans = self._plans()
        scopes = {id(each.__globals__): each.__globals__ for each in self._functions}
        for scope in scopes.values():
            needed = {
                name
                for function, code, _ in plans
                if function.__globals__ is scope
                for name in missing_names(code, function.__code__, scope)
            }
            self._add_names(scope, needed)
        changed: dict[str, list[CodeType]] = {}
        for function, code, defaults in plans:
            name = self._names[id(function)]
            old = function.__code__
            missing = missing_names(code, old, function.__globals__)
            if missing:
                self._keep(name, f"it uses {', '.join(missing)}, which does not exist there")
                continue
            before = (function.__defaults__, function.__kwdefaults__)
            is_changed = not (is_same(old, code) and are_same(before, defaults))
            try:
                function.__code__ = code
                function.__defaults__, function.__kwdefaults__ = defaults
            except (ValueError, TypeError, RuntimeError) as error:
                self._keep(name, str(error))
                continue
            if is_changed:
                changed.setdefault(name, []).append(old)
                self._report.changed.add(shown(name))
                self._check_compiled(name, function)
        self._add_methods()
        return changed

    def _plans(self) -> list[tuple[FunctionType, CodeType, tuple[Any, Any]]]:
        """Return the functions that can get new code, each with the code and its default values."""
        olds: dict[str, dict[CodeType, None]] = {}
        for each in self._functions:
            olds.setdefault(self._names[id(each)], {})[each.__code__] = None
        matches = {name: self._new.match(name, list(codes)) for name, codes in olds.items()}
        plans = []
        for function in self._functions:
            old = function.__code__
            name = self._names[id(function)]
            code = matches[name].get(old)
            try:
                if code is None and name in self._new.codes:
                    raise KeptError("the file has several functions of this name, and not as many as before")
                if code is None:
                    raise KeptError("it is no longer in the file")
                check(old, code)
                plans.append((function, code, self._new.defaults(code, function)))
            except KeptError as error:
                self._keep(name, str(error))
        return plans

    def _add_names(self, scope: _Names, needed: set[str]) -> None:
        """Add the new functions, imports and constants of the file to the global variables of a module.

        A function that was pickled has only those global variables that it uses, and gets only what it needs.
        """
        module = sys.modules.get(str(scope.get("__name__")))
        is_module = getattr(module, "__dict__", None) is scope
        functions = {each.name: each for each in self._new.tree.body if isinstance(each, _DEFS)}
        wanted = {*functions} if is_module else {*needed}
        added: dict[str, Any] = {}
        while wanted:
            names = {name for name in wanted if name not in scope and name not in added}
            wanted = set()
            for name in sorted(names & functions.keys()):
                try:
                    added[name] = function = self._made(functions[name], name, scope)
                    wanted |= {each for each in missing_names(function.__code__, None, scope) if each not in added}
                except KeptError as error:
                    self._keep(name, str(error))
            names |= wanted
            self._import(scope, names | needed)
            wanted -= scope.keys()
        for _ in range(len(added)):
            for name, function in list(added.items()):
                missing = missing_names(function.__code__, None, {**scope, **added})
                if missing:
                    self._keep(name, f"it uses {', '.join(missing)}, which does not exist there")
                    del added[name]
        for name, function in added.items():
            scope[name] = function
            self._report.added.add(name)
        if is_module:
            self._compare_constants(scope)

    def _import(self, scope: _Names, names: set[str]) -> None:
        """Import what is missing among these names, and set the constants among them."""
        for node in self._new.tree.body:
            value = _constant(node)
            if value is not None and value[0] in names and value[0] not in scope:
                scope[value[0]] = value[1]
                self._report.added.add(value[0])
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                bound = {each.asname or each.name.partition(".")[0] for each in node.names}
                if any(each in names and each not in scope for each in bound):
                    try:
                        exec(compile(ast.Module([node], []), self._filename, "exec", dont_inherit=True), scope)
                    except Exception as error:
                        self._keep(ast.unparse(node), f"{type_name(type(error))}: {error}")

    @property
    def _filename(self) -> str:
        return self._functions[0].__code__.co_filename

    def _made(self, node: Any, name: str, scope: _Names, owner: "type | None" = None) -> FunctionType:
        """Return a new function for a definition. `owner` is the class of a method."""
        codes = self._new.codes.get(name, [])
        if len(codes) != 1:
            raise KeptError("the file has several functions of this name")
        harmless = [each.id for each in node.decorator_list if isinstance(each, ast.Name) and each.id in _HARMLESS]
        if len(harmless) < len(node.decorator_list) or (harmless and owner is None):
            raise KeptError("its decorator would have to run")
        code = codes[0]
        if code.co_freevars not in ((), ("__class__",)) or (code.co_freevars and owner is None):
            raise KeptError("it has a closure")
        defaults, keywords = self._new.defaults(code, None)
        closure = (CellType(owner),) if code.co_freevars else None
        function = FunctionType(code, scope, node.name, defaults, closure)
        function.__kwdefaults__ = keywords
        function.__qualname__ = name
        return function

    def _add_methods(self) -> None:
        """Add the new methods of the file to the classes that have a function of the file."""
        owners = {id(owner): (owner, each) for each in self._functions if (owner := self._classes.get(id(each)))}
        for owner, function in owners.values():
            path = self._names[id(function)].rpartition(".")[0]
            own = type.__dict__["__dict__"].__get__(owner)
            for node in _class_body(self._new.tree, path):
                if isinstance(node, _DEFS) and _mangled(node.name, path) not in own:
                    self._add_method(owner, node, f"{path}.{node.name}", function.__globals__)

    def _add_method(self, owner: type, node: Any, name: str, scope: _Names) -> None:
        try:
            method: Any = self._made(node, name, scope, owner)
            missing = missing_names(method.__code__, None, scope)
            self._add_names(scope, set(missing))
            missing = missing_names(method.__code__, None, scope)
            if missing:
                raise KeptError(f"it uses {', '.join(missing)}, which does not exist there")
            for each in reversed(node.decorator_list):
                method = _HARMLESS[each.id](method)
            type.__setattr__(owner, _mangled(node.name, name.rpartition(".")[0]), method)
            self._report.added.add(shown(name))
        except (KeptError, TypeError) as error:
            self._keep(name, str(error))

    def _compare_constants(self, scope: _Names) -> None:
        """Report the constants of the module that have another value in the new text.

        A variable that the file sets in several places is no constant.
        """
        stores = [
            each.id for each in ast.walk(self._new.tree) if isinstance(each, ast.Name) and type(each.ctx) is ast.Store
        ]
        for name, value in filter(None, map(_constant, self._new.tree.body)):
            old = scope.get(name, value) if stores.count(name) == 1 else value
            if type(old) in _CONSTANTS and type(value) in _CONSTANTS and repr(old) != repr(value):
                self._keep(name, "a statement of the module runs only at its import")

    def _check_compiled(self, name: str, function: FunctionType) -> None:
        owner = self._classes.get(id(function))
        names = function.__globals__ if owner is None else type.__dict__["__dict__"].__get__(owner)
        wrapper = names.get(name.rpartition(".")[2])
        package = str(type(wrapper).__module__).partition(".")[0]
        if package in _COMPILERS and type(wrapper) is not FunctionType:
            self._keep(name, f"{package} has compiled the old code, and may keep it")
        elif type_name(type(wrapper)).endswith("lru_cache_wrapper"):
            self._keep(name, "the results of the old code in its cache stay; call its cache_clear()")

    def _keep(self, name: str, reason: str) -> None:
        self._report.kept.add((shown(name), reason))


def shown(name: str) -> str:
    """Return a qualified name as the user writes it."""
    return name.replace(".<locals>", "")


def _constant(node: Any) -> "tuple[str, Any] | None":
    """Return the name and the value of an assignment of a literal, None for any other statement."""
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    value = getattr(node, "value", None)
    if (
        isinstance(node, (ast.Assign, ast.AnnAssign))
        and value
        and len(targets) == 1
        and isinstance(targets[0], ast.Name)
    ):
        try:
            return targets[0].id, ast.literal_eval(value)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            pass
    return None


def _mangled(name: str, owner: str) -> str:
    """Return the attribute for a name in the body of a class (Python's reference, "private name mangling")."""
    is_private = name.startswith("__") and not name.endswith("__")
    return f"_{owner.rpartition('.')[2].lstrip('_')}{name}" if is_private else name


def _class_body(tree: Any, path: str) -> list[Any]:
    """Return the statements of the class with this qualified name, [] if there is none outside of functions."""
    body = tree.body
    for name in path.split("."):
        found = [each for each in body if isinstance(each, ast.ClassDef) and each.name == name]
        body = found[-1].body if found else []
    return list(body)
