"""The statements of the language server's rules about Ray are true of this Ray."""

import re
import sys
from pathlib import Path

from local_cluster import Child, Cluster

PROGRAM = """
import inspect, os, pdb, sys
import library
import ray

ray.init(address=os.environ["RAY_ADDRESS"], log_to_driver=False)

def ask(function, *arguments):
    try:
        result = ray.get(function.remote(*arguments), timeout=60)
    except Exception as error:
        result = type(error.cause if isinstance(error, ray.exceptions.RayTaskError) else error).__name__
    return result

@ray.remote
def set_trace():
    pdb.set_trace()

@ray.remote
def post_mortem():
    try:
        1 / 0
    except ZeroDivisionError:
        pdb.post_mortem()
    return "went on"

@ray.remote
def read():
    input()

@ray.remote(runtime_env={"env_vars": {"RAY_DEBUG": "true"}})
def unknown_value():
    breakpoint()
    return "went on"

@ray.remote
def variable():
    return os.environ.get("RAY_DEBUG_POST_MORTEM")

print(f"set_trace {ask(set_trace)}")
print(f"post_mortem {ask(post_mortem)}")
print(f"input {ask(read)}")
print(f"unknown value {ask(unknown_value)}")
os.environ["RAY_DEBUG_POST_MORTEM"] = "1"
print(f"late {ask(variable)}")

try:
    ray.remote(runtime_env={"env_vars": {"RAY_DEBUG": 1}})(lambda: None).remote()
except TypeError:
    print("number TypeError")

error = ValueError()
try:
    raise error
except ValueError:
    objects = [pdb.Pdb(), sys._getframe(), inspect.stack(), error.__traceback__, sys.exc_info()]
for one in objects:
    try:
        ray.remote(lambda: one).remote()
    except Exception:
        print("closure refused")

def is_taken(function):
    try:
        function.remote()
    except Exception:
        return "refused"
    return "taken"

print(f"imported plain function {is_taken(ray.remote(library.plain))}")
print(f"imported helper {is_taken(library.calls_plain)}")
print(f"imported base {is_taken(library.Sub)}")
print(f"imported task {is_taken(library.task)}")
print(f"imported actor {is_taken(library.Actor)}")
print(f"imported lambda {is_taken(ray.remote(library.nameless))}")
print(f"imported inner function {is_taken(ray.remote(library.inner()))}")
print("end")
"""

LIBRARY = """
import cProfile
import ray

profiler = cProfile.Profile()

def plain():
    profiler.enable()

@ray.remote
def calls_plain():
    plain()

class Base:
    def method(self):
        profiler.enable()

@ray.remote
class Sub(Base):
    pass

@ray.remote
def task():
    profiler.enable()

@ray.remote
class Actor:
    def method(self):
        profiler.enable()

nameless = lambda: profiler.enable()

def inner():
    def function():
        profiler.enable()
    return function
"""

EXPECTED = [
    "set_trace BdbQuit",
    "post_mortem went on",
    "input EOFError",
    "unknown value went on",
    "late None",
    "number TypeError",
    *["closure refused"] * 5,
    "imported plain function taken",
    "imported helper taken",
    "imported base taken",
    "imported task refused",
    "imported actor refused",
    "imported lambda refused",
    "imported inner function refused",
    "end",
]


def test_the_statements_of_the_rules(cluster: Cluster, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    (tmp_path / "library.py").write_text(LIBRARY)
    with Child([sys.executable, str(path)], tmp_path / "log", {"RAY_ADDRESS": cluster.address}) as child:
        assert child.wait() == 0, child.output
    # Ray's own log may begin after a text, before the text's line break.
    lines = [re.sub(r"\[\d{4}-\d\d-.*", "", line) for line in child.output.splitlines()]
    begins = {one.split(" ")[0] for one in EXPECTED}
    assert [line for line in lines if line.split(" ")[0] in begins] == EXPECTED
