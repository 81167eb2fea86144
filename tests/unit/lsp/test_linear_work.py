"""The work of an examination grows linearly with its input, so that the server does not freeze."""

import sys
from collections.abc import Callable
from typing import Any

import pytest

from raydap.lsp.examination import PythonExaminer
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
    "helpers": lambda n: (
        "".join(f"def f{i}():\n    return f{i - 1}()\n" for i in range(1, n)) + HEAD + f"    f{n - 1}()\n"
    ),
}


def calls(text: str) -> int:
    """Return how many functions an examination calls."""
    count = 0

    def add(*_: Any) -> None:
        nonlocal count
        count += 1

    # A coverage tool may have set a profile function.
    before = sys.getprofile()
    sys.setprofile(add)
    try:
        PythonExaminer().examine(text)
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("kind", FILES)
def test_twice_the_lines_are_about_twice_the_work(kind: str) -> None:
    first, second = calls(FILES[kind](100)), calls(FILES[kind](200))
    assert second <= 2.5 * first


@pytest.mark.parametrize("text", ["/*", '"', '"\\"', "/", "{", '{"env":', '\\"'])
def test_a_launch_json_without_ends_is_read_once(text: str) -> None:
    """A file of this size would take hours if each of its characters started a search to the end."""
    list(launch_json.check(text * 200_000))
    list(launch_json.check('"' + text * 200_000))
