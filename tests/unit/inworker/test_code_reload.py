"""The new code of a file's functions: which old function gets which code, and which keeps its own."""

import base64
import gc
import json
import sys
import threading
import zlib
from collections.abc import Callable
from importlib import util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from raydap.inworker.code_reload import reload_code

pytestmark = pytest.mark.core


class Loaded:
    """A module that is loaded from a file."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        path.write_text(text)
        spec = util.spec_from_file_location(path.stem, path)
        assert spec is not None
        assert spec.loader is not None
        self.module: Any = util.module_from_spec(spec)
        sys.modules[path.stem] = self.module
        spec.loader.exec_module(self.module)

    def reload(self, text: str) -> dict[str, Any]:
        """Save the new text, reload it, and return what the answer contains that is not empty."""
        self.path.write_text(text)
        answer = send(self.path, text)
        return {name: each for name, each in answer.items() if each and name != "loaded"}


def send(path: Path, text: str) -> dict[str, Any]:
    packed = base64.b64encode(zlib.compress(text.encode())).decode()
    answer: dict[str, Any] = json.loads(reload_code([str(path)], "", packed))
    return answer


Load = Callable[[str], Loaded]


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Load:
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])

    def load(text: str) -> Loaded:
        monkeypatch.setitem(sys.modules, "reloaded_program", ModuleType("reloaded_program"))
        return Loaded(tmp_path / "reloaded_program.py", text)

    return load


def test_a_function_runs_the_new_code_wherever_it_is_referred_to(load: Load) -> None:
    loaded = load("def f(x):\n    return x\n")
    kept = loaded.module.f
    assert loaded.reload("\n\ndef f(x):\n    return x + 1\n") == {"changed": ["f"]}
    assert kept(1) == 2
    assert kept.__code__.co_firstlineno == 3


def test_unchanged_functions_get_new_lines_and_are_not_reported(load: Load) -> None:
    loaded = load("def f():\n    return 1\ndef g():\n    return 2\n")
    assert loaded.reload("# one more line\ndef f():\n    return 1\ndef g():\n    return 3\n") == {"changed": ["g"]}
    assert loaded.module.f.__code__.co_firstlineno == 2


def test_constants_that_are_equal_can_differ(load: Load) -> None:
    loaded = load("def f():\n    return 1\ndef g():\n    return (0.0,)\n")
    assert loaded.reload("def f():\n    return True\ndef g():\n    return (-0.0,)\n") == {"changed": ["f", "g"]}
    assert loaded.module.f() is True
    assert str(loaded.module.g()) == "(-0.0,)"


CLASS = """\
class C:
    def __init__(self):
        self.count = 5
    @property
    def value(self):
        return 1
    @value.setter
    def value(self, new):
        self.count = new
    @staticmethod
    def plain():
        return 1
    @classmethod
    def made(cls):
        return 1
    class Inner:
        def f(self):
            return 1
"""


def test_methods_properties_and_inner_classes(load: Load) -> None:
    loaded = load(CLASS)
    one = loaded.module.C()
    answer = loaded.reload(CLASS.replace("return 1", "return 2").replace("= new", "= new + 1"))
    assert answer == {"changed": ["C.Inner.f", "C.made", "C.plain", "C.value"]}
    one.value = 7
    assert (one.count, one.value, one.plain(), one.made(), one.Inner().f()) == (8, 2, 2, 2, 2)


def test_a_property_that_has_got_a_setter_keeps_what_is_the_same(load: Load) -> None:
    loaded = load("class C:\n    @property\n    def x(self):\n        return 1\n")
    answer = loaded.reload(
        "class C:\n    @property\n    def x(self):\n        return 2\n    @x.setter\n    def x(self, v): pass\n"
    )
    assert answer == {"kept": [["C.x", "the file has several functions of this name, and not as many as before"]]}
    assert loaded.module.C().x == 1


CLOSURE = """\
import functools
def timed(function):
    calls = []
    @functools.wraps(function)
    def wrapper(*args):
        calls.append(1)
        return function(*args)
    return wrapper
def other(function):
    def wrapper(*args):
        return function(*args)
    return wrapper
@timed
@other
def f(x):
    return x
"""


def test_a_decorated_function_and_its_decorators(load: Load) -> None:
    loaded = load(CLOSURE)
    f = loaded.module.f
    f(1)
    answer = loaded.reload(CLOSURE.replace("return x\n", "return x + 1\n").replace("(1)", "(2)"))
    assert answer == {"changed": ["f", "timed", "timed.wrapper"]}
    assert f(1) == 2
    assert f.__closure__[f.__code__.co_freevars.index("calls")].cell_contents == [1, 2]


def test_a_changed_closure_keeps_the_old_code_until_it_is_made_again(load: Load) -> None:
    loaded = load("def make(a):\n    b = 1\n    def inner():\n        return a\n    return inner\n")
    inner = loaded.module.make(1)
    text = "def make(a):\n    b = 1\n    def inner():\n        return a + b\n    return inner\n"
    assert loaded.reload(text) == {
        "changed": ["make"],
        "kept": [["make.inner", "its closure has changed (b)"]],
    }
    assert inner() == 1
    assert loaded.module.make(1)() == 2
    again = loaded.reload(text.replace("a + b", "a + b + 1"))
    assert again["changed"] == ["make"]
    assert loaded.module.make(1)() == 3


def test_a_private_method_is_added_once_under_its_mangled_name(load: Load) -> None:
    loaded = load("class _C:\n    def f(self):\n        return 1\n")
    text = "class _C:\n    def f(self):\n        return self.__g()\n    def __g(self):\n        return 2\n"
    assert loaded.reload(text) == {"changed": ["_C.f"], "added": ["_C.__g"]}
    assert loaded.module._C().f() == 2
    assert loaded.reload(text) == {}


def test_a_default_value_is_not_compared_by_the_users_code(load: Load) -> None:
    source = (
        "class Odd:\n    def __eq__(self, other):\n        raise OSError\ndef f(a=Odd(), b={}, c=-0.0):\n    return 1\n"
    )
    loaded = load(source)
    assert loaded.reload(source.replace("return 1", "return 2")) == {"changed": ["f"]}
    assert loaded.reload(source.replace("-0.0", "0.0").replace("return 1", "return 2")) == {"changed": ["f"]}


def test_a_method_that_begins_to_use_super(load: Load) -> None:
    loaded = load("class C:\n    def f(self):\n        return 1\n")
    answer = loaded.reload("class C:\n    def f(self):\n        return super().f()\n")
    assert answer == {"kept": [["C.f", "only one of its old and its new code uses super()"]]}


def test_lambdas_match_by_their_order(load: Load) -> None:
    loaded = load("one = lambda: 1\ntwo = lambda: 2\n")
    assert loaded.reload("one = lambda: 3\ntwo = lambda: 4\n") == {"changed": ["<lambda>"]}
    assert (loaded.module.one(), loaded.module.two()) == (3, 4)


def test_default_values(load: Load) -> None:
    loaded = load("BASE = [7]\ndef f(a, b=1, c=BASE, state=[], *, d=2, e=BASE):\n    return a, b, c, state, d, e\n")
    f = loaded.module.f
    f(0)[3].append("state")
    text = "BASE = [7]\ndef f(a, new=0, b=5, c=BASE, state=[], *, d=6, e=BASE):\n    return a, new, b, c, state, d, e\n"
    assert loaded.reload(text) == {"changed": ["f"]}
    assert f(0) == (0, 0, 5, [7], ["state"], 6, [7])
    assert f(0)[3] is loaded.module.BASE
    text = text.replace("new=0", "new=BASE").replace("return a", "return 1")
    assert loaded.reload(text) == {"changed": ["f"]}
    text = text.replace("*,", "more=BASE, *,")
    reason = "the default value of its parameter more would have to be evaluated"
    assert loaded.reload(text) == {"kept": [["f", reason]]}
    assert f(0)[0] == 1


def test_new_functions_methods_imports_and_constants(load: Load) -> None:
    loaded = load("class C:\n    def f(self):\n        return 1\nclass D(C):\n    def f(self):\n        return 2\n")
    one = loaded.module.D()
    text = (
        "import colorsys\nfrom json import dumps as to_text\nLIMIT = 3\n"
        "class C:\n    def f(self):\n        return self.g()\n    def g(self):\n        return helper(LIMIT)\n"
        "class D(C):\n    def f(self):\n        return C.f(self)\n    def g(self, add=1):\n"
        "        return super().g() + add\n    @staticmethod\n    def s():\n        return colorsys.__name__\n"
        "def helper(x):\n    return len(to_text([other(x)]))\ndef other(x):\n    return x\n"
    )
    answer = loaded.reload(text)
    assert answer["changed"] == ["C.f", "D.f"]
    assert answer["added"] == ["C.g", "D.g", "D.s", "LIMIT", "helper", "other"]
    assert (one.f(), one.s()) == (4, "colorsys")


def test_what_uses_a_missing_name_keeps_its_code(load: Load) -> None:
    loaded = load("def f():\n    return 1\ndef lazy():\n    return LATER\n")
    text = (
        "import no_such_module\ndef f():\n    return New()\ndef lazy():\n    return LATER + 1\n"
        "def helper():\n    return no_such_module\nclass New:\n    pass\n@print\ndef decorated(): pass\n"
    )
    assert loaded.reload(text) == {
        "changed": ["lazy"],
        "kept": [
            ["decorated", "its decorator would have to run"],
            ["f", "it uses New, which does not exist there"],
            ["helper", "it uses no_such_module, which does not exist there"],
            ["import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"],
        ],
    }
    assert loaded.module.f() == 1
    assert not hasattr(loaded.module, "helper")


def test_a_constant_keeps_its_value_and_a_counter_is_no_constant(load: Load) -> None:
    loaded = load("STEPS = 5\ncount = 0\ndef f():\n    global count\n    count += 1\n    return STEPS\n")
    loaded.module.f()
    answer = loaded.reload("STEPS = 9\ncount = 0\ndef f():\n    global count\n    count += 2\n    return STEPS\n")
    assert answer == {
        "changed": ["f"],
        "kept": [["STEPS", "a statement of the module runs only at its import"]],
    }
    assert loaded.module.f() == 5
    assert loaded.module.count == 3


def test_a_function_that_is_gone(load: Load) -> None:
    loaded = load("def f():\n    return 1\n")
    assert loaded.reload("x = 1\n") == {"kept": [["f", "it is no longer in the file"]]}
    assert loaded.module.f() == 1


def test_generators_run_their_old_code_to_the_end(load: Load) -> None:
    loaded = load("def g():\n    yield 1\n    yield 2\n")
    begun = loaded.module.g()
    next(begun)
    assert loaded.reload("def g():\n    yield 3\n    yield 4\n") == {"changed": ["g"], "running": ["g"]}
    assert [*begun, *loaded.module.g()] == [2, 3, 4]
    reason = "it is or was a generator or a coroutine, so its callers would fail"
    assert loaded.reload("def g():\n    return []\n") == {"kept": [["g", reason]]}


def test_a_function_in_a_stack_runs_its_old_code_until_its_next_call(load: Load) -> None:
    loaded = load("def f(begun, ends):\n    begun.set()\n    ends.wait()\n    return 1\n")
    begun, ends, results = threading.Event(), threading.Event(), list[int]()
    thread = threading.Thread(target=lambda: results.append(loaded.module.f(begun, ends)))
    thread.start()
    begun.wait()
    answer = loaded.reload("def f(begun, ends):\n    begun.set()\n    ends.wait()\n    return 2\n")
    ends.set()
    thread.join()
    assert answer == {"changed": ["f"], "running": ["f"]}
    assert results == [1]
    assert loaded.module.f(begun, ends) == 2


def test_a_cache_keeps_its_results(load: Load) -> None:
    loaded = load("import functools\n@functools.lru_cache\ndef f(x):\n    return x\n")
    loaded.module.f(1)
    reason = "the results of the old code in its cache stay; call its cache_clear()"
    text = "import functools\n@functools.lru_cache\ndef f(x):\n    return x + 1\n"
    assert loaded.reload(text) == {"changed": ["f"], "kept": [["f", reason]]}
    assert (loaded.module.f(1), loaded.module.f(2)) == (1, 3)


def test_a_file_that_does_not_compile_changes_nothing(load: Load) -> None:
    loaded = load("def f():\n    return 1\n")
    answer = loaded.reload("def f():\n    return 2\ndef g(:\n")
    assert list(answer) == ["error"]
    assert answer["error"].startswith("line 3: ")
    assert loaded.module.f() == 1


def test_frozen_objects_are_found(load: Load) -> None:
    loaded = load("def make(a):\n    def inner():\n        return a\n    return inner\nkept = make(1)\n")
    gc.freeze()
    try:
        answer = loaded.reload("def make(a):\n    def inner():\n        return a + 1\n    return inner\n")
    finally:
        gc.unfreeze()
    assert answer == {"changed": ["make", "make.inner"]}
    assert loaded.module.kept() == 2


def test_a_pickled_function_gets_only_the_names_that_it_needs(load: Load) -> None:
    loaded = load("def f(x):\n    return x\ndef g(x):\n    return x\n")
    kind = type(loaded.module.f)
    pickled = kind(loaded.module.f.__code__, {"__name__": "reloaded_program"}, "f")
    answer = loaded.reload(
        "def f(x):\n    return h(x)\ndef g(x):\n    return x\ndef h(x):\n    return i(x)\ndef i(x):\n    return 9\n"
    )
    assert answer == {"added": ["h", "i"], "changed": ["f"]}
    assert pickled(1) == 9
    assert set(pickled.__globals__) - {"__builtins__"} == {"__name__", "h", "i"}


PACKAGE = "working_dir_files/_ray_pkg_0123456789abcdef"


@pytest.mark.parametrize(
    ("copy", "path", "inner", "loaded"),
    [
        ("model.py", "/home/me/model.py", "model.py", True),
        ("model.py", "/home/me/model.py", "", True),
        ("src/model.py", "/home/me/src/model.py", "", True),
        ("model.py", "/home/me/other/model.py", "other/model.py", False),
        ("different.py", "/home/me/different.py", "", False),
    ],
)
def test_the_copy_in_a_working_dir(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, copy: str, path: str, inner: str, loaded: bool
) -> None:
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    text = "def f():\n    return 1\n\n\ndef g():\n    return 3\n"
    (tmp_path / PACKAGE / "src").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / PACKAGE)
    here = Loaded(tmp_path / PACKAGE / copy, "def h(): pass\n" if "different" in copy else text)
    monkeypatch.delitem(sys.modules, here.path.stem)
    packed = base64.b64encode(zlib.compress(text.replace("1", "2").encode())).decode()
    answer = json.loads(reload_code([path], inner, packed))
    assert (answer["loaded"], answer.get("changed")) == (loaded, ["f"] if loaded else [])


def test_a_module_is_imported_from_the_new_text_where_only_an_old_copy_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "imported_later", raising=False)
    (tmp_path / "imported_later.py").write_text("def f():\n    return 1\n")
    assert send(tmp_path / "imported_later.py", "def f():\n    return 2\n")["loaded"] is False
    module = __import__("imported_later")
    assert module.f() == 2
    assert module.__file__ == str(tmp_path / "imported_later.py")
    assert send(tmp_path / "imported_later.py", "def f():\n    raise LookupError\n")["changed"] == ["f"]
    with pytest.raises(LookupError) as raised:
        module.f()
    assert str(raised.traceback[-1].statement).strip() == "raise LookupError"
