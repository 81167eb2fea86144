"""New code for the functions of a file, without a restart (raydap/reload); runs in the worker.

A function object gets the code of the function with the same qualified name in the file's new text. Objects that refer
to the function then call the new code: bound methods, wrappers of decorators, Ray's tables. Variables stay unchanged,
and no statement of the file runs, except imports that the new code needs.

The design is in docs/design/reload.md.
"""

import base64
import gc
import os
import re
import sys
import zlib
from types import AsyncGeneratorType, CellType, CodeType, CoroutineType, FunctionType, GeneratorType
from typing import Any

from .file_queries import copies_of, job_folders, source_text
from .file_reload import FileReload, ReloadReport, shown
from .new_code import OPTIMIZED, NewCode
from .ray_exports import export_again
from .reloaded_files import use_new_text
from .safe_values import type_name
from .stack_reader import as_json
from .thread_frames import current_frames, without_collections

_PACKAGE = re.compile(r".*[/\\]_ray_pkg_[0-9a-f]+")
"""The folder into which Ray unpacks a `working_dir` or one of `py_modules`."""

_FOLLOWED = (FunctionType, staticmethod, classmethod, property, CellType, tuple)
"""The types of objects that may refer to functions of a module."""


_SUSPENDED = (GeneratorType, CoroutineType, AsyncGeneratorType)
"""The types of objects that have a frame while they wait."""


def reload_code(paths: list[str], inner: str, packed: str) -> str:
    """Give the functions of a file the code in its new text, and return JSON for core/workers/reloading.py.

    `paths` are the paths that the file can have in this process; a relative one begins in the current directory.
    `inner` is its path in the package of the job's working_dir, "" if that is not known. `packed` is the text, as
    base64 of its compressed UTF-8.
    """
    text = zlib.decompress(base64.b64decode(packed)).decode("utf-8", "surrogatepass")
    try:
        report, files = _reload([os.path.abspath(each) for each in paths], inner, text)
    except SyntaxError as error:
        return as_json({"error": f"line {error.lineno}: {error.msg}"})
    except Exception as error:
        return as_json({"error": f"{type_name(type(error))}: {error}"})
    lists = {name: sorted(each) for name, each in vars(report).items()}
    return as_json({"loaded": bool(files), **lists})


def _reload(paths: list[str], inner: str, text: str) -> tuple[ReloadReport, list[str]]:
    report = ReloadReport()
    compile(text, paths[0], "exec", dont_inherit=True)
    wanted = [*paths, *_copies(paths[-1], inner, text)]
    functions, classes, suspended = _objects(wanted)
    old_codes: dict[str, list[CodeType]] = {}
    for filename in sorted({each.__code__.co_filename for each in functions}):
        own = [each for each in functions if each.__code__.co_filename == filename]
        changed = FileReload(NewCode(text, filename), own, classes, report).run()
        for name, codes in changed.items():
            old_codes.setdefault(name, []).extend(codes)
    files = sorted({each.__code__.co_filename for each in functions})
    use_new_text([*files, *wanted], text)
    report.running.update(_running(old_codes, suspended))
    if report.changed or report.added:
        report.kept.update(export_again(functions))
    return report, files


def _copies(path: str, inner: str, text: str) -> list[str]:
    """Return the copies of a client's file in the packages of the job's working_dir and of `py_modules`.

    Without `inner`, only the end of the path shows which file is the copy. So it must also have a similar text.
    """
    found = []
    for number, (folder, copy) in enumerate(zip(job_folders(), copies_of(path), strict=True)):
        package = _PACKAGE.match(folder)
        if package is not None and inner and number == 0:
            found.append(os.path.join(package[0], inner))
        elif package is not None and copy and _is_similar(copy, text):
            found.append(copy)
    return found


def _is_similar(path: str, text: str) -> bool:
    """Return whether a file has at least half of the lines of a text, or the text half of the lines of the file."""
    try:
        old = set(source_text(path, 0, len(text) * 2).split("\n")) - {""}
    except (OSError, SyntaxError, ValueError):
        return False
    new = set(text.split("\n")) - {""}
    return 2 * len(old & new) >= min(len(old), len(new))


def _objects(paths: list[str]) -> tuple[list[FunctionType], dict[int, type], list[Any]]:
    """Return the functions of the file, the classes that have them, and all suspended generators and coroutines.

    The classes are by the id of their function.
    """
    ends = {os.path.basename(each) for each in paths}
    real = {os.path.realpath(each) for each in paths}
    known: dict[str, bool] = dict.fromkeys(paths, True)

    def is_wanted(file: str) -> bool:
        if file not in known:
            known[file] = os.path.basename(file) in ends and os.path.realpath(file) in real
        return known[file]

    with without_collections():
        objects = gc.get_objects()
    functions: dict[int, FunctionType] = {}
    classes: list[type] = []
    suspended: list[Any] = []
    if gc.get_freeze_count():
        # `get_objects` leaves out what `gc.freeze` has frozen.
        objects += _frozen(paths)
    kinds: dict[type, bool] = {}
    for each in objects:
        kind = type(each)
        if kind is FunctionType:
            code = each.__code__
            # Python runs modules and class bodies as functions, too.
            if is_wanted(code.co_filename) and code.co_flags & OPTIMIZED and code.co_name != "__annotate__":
                functions[id(each)] = each
            continue
        is_class = kinds.get(kind)
        if is_class is None:
            is_class = kinds[kind] = issubclass(kind, type)
        if is_class:
            classes.append(each)
        elif kind in _SUSPENDED:
            suspended.append(each)
    modules = {each.__module__ for each in functions.values()}
    owners: dict[int, type] = {}
    for owner in classes:
        module = _module_of(owner)
        attributes = type.__dict__["__dict__"].__get__(owner) if type(module) is str and module in modules else {}
        for value in list(attributes.values()):
            for function in _functions_of(value):
                owners.setdefault(id(function), owner)
    return list(functions.values()), owners, suspended


def _frozen(paths: list[str]) -> list[Any]:
    """Return the functions and classes that the modules of these files refer to, directly or not."""
    files = [each for each in list(sys.modules.values()) if getattr(each, "__file__", None) in paths]
    modules = [*files, sys.modules["__main__"]]
    names = {each.__name__ for each in modules}
    found: dict[int, Any] = {}
    later: list[Any] = [vars(each) for each in modules]
    while later:
        for each in gc.get_referents(later.pop()):
            if id(each) not in found and (type(each) in _FOLLOWED or _module_of(each) in names):
                found[id(each)] = each
                later.append(each.__closure__ if type(each) is FunctionType else each)
    return list(found.values())


def _module_of(value: Any) -> Any:
    """Return the `__module__` of a class, None for anything else."""
    return type.__dict__["__dict__"].__get__(value).get("__module__") if issubclass(type(value), type) else None


def _functions_of(value: Any) -> list[FunctionType]:
    """Return the functions in the attribute of a class."""
    inner = (value.fget, value.fset, value.fdel) if type(value) is property else (getattr(value, "__func__", value),)
    if type(value) not in (property, staticmethod, classmethod, FunctionType):
        return []
    return [each for each in inner if type(each) is FunctionType]


def _running(old_codes: dict[str, list[CodeType]], suspended: list[Any]) -> set[str]:
    """Return the names of the functions whose old code is in a stack, or in a suspended generator or coroutine."""
    names = {id(code): name for name, codes in old_codes.items() for code in codes}
    codes = []
    for frame in current_frames().values():
        each: Any = frame
        while each is not None:
            codes.append(each.f_code)
            each = each.f_back
    for each in suspended:
        prefix = {GeneratorType: "gi", CoroutineType: "cr"}.get(type(each), "ag")
        if getattr(each, prefix + "_frame") is not None:
            codes.append(getattr(each, prefix + "_code"))
    return {shown(names[id(code)]) for code in codes if id(code) in names}
