"""The work of an examination grows linearly with its input, so that the server does not freeze."""

import gc
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from raydap.lsp.analysis.variables import Blocks
from raydap.lsp.document import Document
from raydap.lsp.rules import launch_json

HEAD = "import ray\n@ray.remote\ndef my_task():\n    breakpoint()\n"

FILES: dict[str, Callable[[int], str]] = {
    "plain lines": lambda n: HEAD + "".join(f"x{i} = max({i}, len('a'))\n" for i in range(n)) + "my_task.remote()\n",
    "dropped tasks": lambda n: HEAD + "my_task.remote()\n" * n,
    "tasks in loops": lambda n: HEAD + "for i in range(3):\n    x = my_task.remote()\n" * n,
    "functions and tasks": lambda n: (
        "import ray\n"
        + "".join(f"@ray.remote\ndef f{i}():\n    breakpoint()\ndef g{i}():\n    f{i}.remote()\n" for i in range(n))
        + "".join(f"g{i}()\n" for i in range(n))
        + "if __name__ == '__main__':\n    g0()\n"
    ),
    "debuggers beside their imports": lambda n: HEAD + "    import pdb; pdb.set_trace()\n" * n,
    "late variables": lambda n: "import os, ray\nray.init()\n" + "os.environ['RAY_DEBUG'] = '1'\nray.init()\n" * n,
    "deployments": lambda n: (
        "from ray import serve\nclass B0: pass\n"
        + "".join(
            f"class B{i}(B0): pass\n@serve.deployment\nclass D{i}(B{i}):\n    async def m(self): breakpoint()\n"
            for i in range(1, n)
        )
    ),
    "stops in a deployment": lambda n: (
        "from ray import serve\n@serve.deployment\nclass D:\n    async def m(self):\n" + "        breakpoint()\n" * n
    ),
    "datasets": lambda n: (
        "import ray\ndef f(x): pass\nds = ray.data.range(3)\n"
        + "".join(f"ds = ds.map(f)\nd{i} = d{i + 1}.map(f)\n" for i in range(n))
    ),
    "lambdas": lambda n: "import ray\n" + "ray.remote(lambda: breakpoint())\n" * n,
    "environments": lambda n: "import ray\ne = {'RAY_DEBUG': 'true'}\n" + "ray.init(runtime_env={'env_vars': e})\n" * n,
    "tasks and loops": lambda n: (
        "import ray\n"
        + "".join(
            f"@ray.remote\ndef f{i}():\n    breakpoint()\nf{i}.remote()\nfor j in x:\n    ray.get(f{i}.remote(), 3)\n"
            for i in range(n)
        )
    ),
    "stops in a task": lambda n: HEAD + "    breakpoint()\n" * n,
    "debuggers in one line": lambda n: "import pdb\n" + HEAD + "    pdb.set_trace()" + "; pdb.set_trace()" * n + "\n",
    "stops in a try": lambda n: (
        HEAD + "    try:\n" + "        breakpoint()\n" * n + "    except Exception:\n" + "        x = 1\n" * n
    ),
    "variables in branches": lambda n: (
        "import os, ray\nray.init()\nif x: pass\n" + "elif x: os.environ['RAY_DEBUG'] = '1'\n" * n
    ),
    "a chain of methods": lambda n: "import ray\nray.data.range(3)" + ".map(f)" * n + "\n",
    "actors with bases": lambda n: (
        "import ray\n" + "".join(f"class B{i}(B{i - 1}): pass\n@ray.remote\nclass A{i}(B{i}): pass\n" for i in range(n))
    ),
    "deployments with bases": lambda n: (
        "from ray import serve\n"
        + "".join(
            f"class B{i}(B{i - 1}): pass\n@serve.deployment\nclass D{i}(B{i}):\n    async def m(self): breakpoint()\n"
            for i in range(n)
        )
    ),
    "methods of a dataset's class": lambda n: (
        "import ray\nclass C:\n    def m0(self): ray.data.range(3).map(self.m0)\n"
        + "".join(f"    def m{i}(self):\n        self.m{i - 1}()\n" for i in range(1, n))
    ),
    "wrapped trials": lambda n: (
        "from ray import tune\ndef f0(c): pass\n"
        + "".join(f"f{i + 1} = tune.with_resources(f{i}, {{}})\ntune.Tuner(f{i + 1})\n" for i in range(n))
    ),
    "choices of functions": lambda n: (
        "from ray import tune\ndef f(c): pass\n" + "tune.Tuner(f if x else (f or f))\n" * n
    ),
    "imports": lambda n: HEAD + "".join(f"from m import a{i}\nds.map_batches(a{i})\n" for i in range(n)),
    "helpers": lambda n: (
        "".join(f"def f{i}():\n    return f{i - 1}()\n" for i in range(1, n)) + HEAD + f"    f{n - 1}()\n"
    ),
}


class Counter:
    """A counter of the executed lines of Python, and of the calls of functions, also of those in C."""

    def __init__(self) -> None:
        self.count = 0

    def profile(self, *_: Any) -> None:
        self.count += 1

    def trace(self, _frame: FrameType, what: str, _: Any) -> Any:
        self.count += what == "line"
        return self.trace


def work(act: Callable[[], object]) -> int:
    """Return the number of lines and calls that `act` executes."""
    counter = Counter()
    # A coverage tool may have set functions of its own.
    before = sys.getprofile(), sys.gettrace()
    gc.disable()  # Callbacks of the garbage collector would be counted.
    sys.setprofile(counter.profile)
    sys.settrace(counter.trace)
    try:
        act()
    finally:
        sys.settrace(before[1])
        sys.setprofile(before[0])
        gc.enable()
    return counter.count


def examined(text: str, encoding: str = "utf-16") -> Document:
    """Return a document that has been examined and whose marks have been found, as for an editor."""
    document = Document("file:///a.py", text, 1, encoding)
    assert document.examine(frozenset()) is not None
    assert document.marks is not None
    return document


@pytest.mark.parametrize("kind", FILES)
def test_twice_the_lines_are_about_twice_the_work(kind: str) -> None:
    short, long = FILES[kind](100), FILES[kind](200)
    first, second = work(lambda: examined(short)), work(lambda: examined(long))
    assert second <= 2.5 * first


@pytest.mark.parametrize("kind", FILES)
def test_a_change_of_a_long_file_is_about_twice_the_work(kind: str) -> None:
    """The examination after a change reads the changed statements only, and runs all rules."""
    counts = []
    for size in (100, 200):
        document = examined(FILES[kind](size))
        document.text += "x = 1\n"
        counts.append(work(lambda document=document: (document.examine(frozenset()), document.marks)))  # type: ignore[misc]
    assert counts[1] <= 2.5 * counts[0]


@pytest.mark.parametrize("kind", FILES)
def test_the_blocks_of_all_lines_are_found_in_about_twice_the_work(kind: str) -> None:
    """The inline values look for the function around each stop, and workers may be stopped at many lines."""
    counts = []
    for size in (100, 200):
        blocks = Blocks(FILES[kind](size))
        counts.append(work(lambda blocks=blocks: [blocks.around(line) for line in range(1, 50)]))  # type: ignore[misc]
    assert counts[1] <= 2.5 * counts[0]


def test_the_chain_of_wrappers_of_one_name_ends() -> None:
    """A name may be assigned its own wrapped value, whose search would never end."""
    examined("import ray\nfrom ray import tune\nf = tune.with_resources(f, {})\ntune.Tuner(f)\n")


@pytest.mark.parametrize("text", ["/*", '"', '"\\"', "/", "{", '{"env":', '\\"'])
def test_a_launch_json_without_ends_is_read_once(text: str) -> None:
    """A file of this size would take hours if each of its characters started a search to the end."""
    list(launch_json.check(text * 200_000))
    list(launch_json.check('"' + text * 200_000))
