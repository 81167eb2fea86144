"""The functions in the new text of a file, and how each takes the place of an old one; runs in the worker."""

import ast
import builtins
import dis
import sys
from types import CodeType, FunctionType
from typing import Any

OPTIMIZED = 0x1
"""The flag of the code of functions, which the code of modules and classes does not have (inspect.COOPTIMIZED)."""

_KINDS = 0x20 | 0x80 | 0x200
"""The flags of generators, coroutines and asynchronous generators (inspect.CO_GENERATOR and others)."""

_STATE = (list, dict, set)
"""The types of default values that a function may use to keep state. raydap does not replace such a value."""

_GLOBAL = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS")
"""The instructions that read a global variable (Python's documentation of `dis`)."""

_LOCAL = ("STORE_NAME",)
"""The instruction that sets a variable of a class body."""


class KeptError(Exception):
    """A function keeps its old code. The text is the reason, for users."""


class NewCode:
    """The compiled new text of a file. Raises SyntaxError or ValueError for a text that does not compile."""

    def __init__(self, text: str, filename: str) -> None:
        self.tree = ast.parse(text, filename)
        module = compile(text, filename, "exec", dont_inherit=True)
        self.codes: dict[str, list[CodeType]] = {}
        """The code of all functions, by qualified name. Several of one name are in the order of their lines."""
        for name, code in nested_codes(module, ""):
            self.codes.setdefault(name, []).append(code)
        for codes in self.codes.values():
            codes.sort(key=lambda code: code.co_firstlineno)
        self._nodes: dict[tuple[str, int], Any] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                # The code of a decorated function begins at its first decorator.
                line = min([node.lineno, *(each.lineno for each in node.decorator_list)])
                self._nodes[node.name, line] = node
            elif isinstance(node, ast.Lambda):
                key = ("<lambda>", node.lineno)
                self._nodes[key] = None if key in self._nodes else node

    def match(self, name: str, olds: list[CodeType]) -> dict[CodeType, CodeType]:
        """Return the new code of the old codes of this qualified name. An old code without an entry has none.

        Several functions of one name, such as the getter and the setter of a property, match by their order if there
        are as many as before.
        """
        news = self.codes.get(name, [])
        olds = sorted(olds, key=lambda code: code.co_firstlineno)
        if len(news) == 1:
            return dict.fromkeys(olds, news[0])
        if len(news) == len(olds):
            return dict(zip(olds, news, strict=True))
        found = {}
        for old in olds:
            same = [new for new in news if is_same(old, new)]
            if same:
                found[old] = same[0]
        return found

    def defaults(self, code: CodeType, old: FunctionType | None) -> tuple[Any, Any]:
        """Return the new `__defaults__` and `__kwdefaults__` of a function with this code.

        A literal has its new value. Other values are those of the same parameter of the old function. Raise KeptError
        if there is none.
        """
        node = self._nodes.get((code.co_name, code.co_firstlineno))
        before: dict[str, Any] = {}
        if old is not None:
            values = old.__defaults__ or ()
            count = old.__code__.co_argcount
            before = dict(zip(old.__code__.co_varnames[count - len(values) : count], values, strict=True))
            before.update(old.__kwdefaults__ or {})
        if node is None:
            if old is None or _parameters(old.__code__) != _parameters(code):
                raise KeptError("the default values of its parameters would have to be evaluated")
            return old.__defaults__, old.__kwdefaults__
        arguments = node.args
        names = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
        given = arguments.defaults
        positional = tuple(
            _default(name, each, before) for name, each in zip(names[len(names) - len(given) :], given, strict=True)
        )
        keywords = {
            each.arg: _default(each.arg, value, before)
            for each, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
            if value is not None
        }
        return positional or None, keywords or None


def _parameters(code: CodeType) -> tuple[Any, ...]:
    count = code.co_argcount + code.co_kwonlyargcount
    return code.co_argcount, code.co_kwonlyargcount, code.co_varnames[:count]


def _default(name: str, node: Any, before: dict[str, Any]) -> Any:
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        if name not in before:
            raise KeptError(f"the default value of its parameter {name} would have to be evaluated") from None
        return before[name]
    return before[name] if name in before and type(value) in _STATE and type(before[name]) is type(value) else value


def nested_codes(code: CodeType, name: str) -> list[tuple[str, CodeType]]:
    """Return the code of all functions inside a code, each with its qualified name; `name` is that of the code."""
    found = []
    for each in code.co_consts:
        if isinstance(each, CodeType):
            inner = ".<locals>." if code.co_flags & OPTIMIZED else "."
            # Python 3.10 has no co_qualname.
            qualified = str(getattr(each, "co_qualname", "")) or (
                f"{name}{inner}{each.co_name}" if name else each.co_name
            )
            if each.co_flags & OPTIMIZED:
                found.append((qualified, each))
            found += nested_codes(each, qualified)
    return found


def qualified_names(functions: "list[FunctionType]") -> dict[int, str]:
    """Return the qualified name of the code of each function, by the id of the function."""
    if sys.version_info >= (3, 11):
        return {id(each): str(each.__code__.co_qualname) for each in functions}
    names: dict[int, str] = {}
    # A wrapper has the `__qualname__` of the function that it wraps, so its name comes from the code around it.
    for each in sorted(functions, key=lambda each: each.__qualname__.count(".<locals>.")):
        name = names.setdefault(id(each.__code__), each.__qualname__)
        if name.rpartition(".")[2] != each.__code__.co_name:
            names[id(each.__code__)] = name = each.__code__.co_name
        for inner, code in nested_codes(each.__code__, name):
            names.setdefault(id(code), inner)
    return {id(each): names[id(each.__code__)] for each in functions}


def is_same(old: CodeType, new: CodeType) -> bool:
    """Return whether two codes do the same, perhaps in other lines."""
    compared = ("co_code", "co_names", "co_varnames", "co_freevars", "co_cellvars", "co_flags", "co_exceptiontable")
    counts = ("co_argcount", "co_posonlyargcount", "co_kwonlyargcount", "co_name")
    same = all(getattr(old, name, None) == getattr(new, name, None) for name in (*compared, *counts))
    return same and are_same(old.co_consts, new.co_consts)


def are_same(old: Any, new: Any) -> bool:
    """Return whether two constants, or default values, are the same.

    1 and 1.0 and True differ, and so do 0.0 and -0.0. Default values that are no literals have stayed the same objects.
    """
    if old is new:
        return True
    if type(old) is not type(new):
        return False
    if isinstance(old, dict):
        return are_same((*old, *old.values()), (*new, *new.values()))
    if isinstance(old, CodeType):
        return is_same(old, new)
    if isinstance(old, tuple):
        return len(old) == len(new) and all(map(are_same, old, new))
    if isinstance(old, frozenset):
        return bool(old == new)
    return repr(old) == repr(new)


def check(old: CodeType, new: CodeType) -> None:
    """Raise KeptError if a function with the old code cannot have the new one."""
    if set(old.co_freevars) != set(new.co_freevars):
        names = sorted({*new.co_freevars} ^ {*old.co_freevars})
        if names == ["__class__"]:
            raise KeptError("only one of its old and its new code uses super()")
        raise KeptError(f"its closure has changed ({', '.join(names)})")
    if (old.co_flags ^ new.co_flags) & _KINDS:
        raise KeptError("it is or was a generator or a coroutine, so its callers would fail")


def global_names(code: CodeType) -> set[str]:
    """Return the names of the global variables that a code reads, also in the functions and classes inside it."""
    names: set[str] = set()
    own: set[str] = set()
    for each in dis.get_instructions(code):
        if each.opname in _GLOBAL:
            names.add(str(each.argval))
        elif each.opname in _LOCAL:
            own.add(str(each.argval))
    for constant in code.co_consts:
        # Python 3.14 evaluates annotations only when they are read.
        if isinstance(constant, CodeType) and constant.co_name != "__annotate__":
            names |= global_names(constant)
    return names - own


def missing_names(code: CodeType, old: CodeType | None, names: "dict[str, Any]") -> list[str]:
    """Return the global variables that the code uses, that do not exist in `names`, and that the old code does not use.

    `names` are the global variables of the function.
    """
    if old is not None and is_same(old, code):
        return []
    known = set() if old is None else global_names(old)
    return sorted(
        each
        for each in global_names(code) - known
        if each not in names and not hasattr(builtins, each) and not each.startswith("__")
    )
