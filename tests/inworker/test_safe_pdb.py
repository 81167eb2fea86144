"""Ray's own pdb, in a process without a cluster, and all ways in which a client can leave it."""

import re
import socket
from collections.abc import Callable, Iterator

import pytest
from local_cluster import Child

from raydap.inworker import calls, safe_pdb

pytestmark = pytest.mark.core

# A task as Ray runs it: the frames that call it belong to Ray.
PROGRAM = """\
import sys
import types
from ray.util import rpdb

ray = types.ModuleType("ray.made_up")
sys.modules["ray.made_up"] = ray
exec('''
def run(task):
    try:
        print("result", task(), "traced" if sys.gettrace() else "untraced", flush=True)
    except BaseException as error:
        print("failed", repr(error), flush=True)
        if post_mortem:
            import ray.util.rpdb
            listen().post_mortem()
            print("over", flush=True)
''', vars(ray))

def listen():
    pdb = rpdb._RemotePdb("uuid", "127.0.0.1", 0, "localhost", quiet=True)
    pdb._listen_socket.listen(1)
    print("port", pdb._listen_socket.getsockname()[1], flush=True)
    pdb.listen()
    return pdb

def work():
    total = 0
    if not ray.post_mortem:
        listen().set_trace(sys._getframe())
    total += 1  # the first line
    total += 1  # the second line
    return 10 // (total - 2 * ray.post_mortem)

def after():
    total = 5  # in the next task
    return total

ray.sys, ray.listen, ray.post_mortem = sys, listen, len(sys.argv) > 1
ray.run(work)
ray.run(after)
"""

SECOND = next(number for number, line in enumerate(PROGRAM.splitlines(), 1) if "second line" in line)


class Joined:
    """The client of a safe pdb."""

    def __init__(self, program: Child) -> None:
        self.program = program
        port = int(program.wait_for(r"port (\d+)")[1])
        self.connection = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.said = ""
        assert "work()" in self.wait()
        assert self.ask(calls.safe_pdb()) == ""

    def wait(self) -> str:
        """Return the output before the next prompt, or before the end of the connection."""
        said = b""
        while not said.endswith(b"(Pdb) "):
            data = self.connection.recv(4096)
            if not data:
                return said.decode().replace("\r\n", "\n")
            said += data
        return said.decode().replace("\r\n", "\n").removesuffix("(Pdb) ")

    def ask(self, line: str) -> str:
        self.connection.sendall(line.encode() + b"\n")
        return self.wait()

    def result(self) -> str:
        """Return the result of the task, after checking that a second task has run without tracing."""
        self.program.wait()
        assert "result 5 untraced" in self.program.output
        return self.program.wait_for("(?:result|failed) .*")[0]


Join = Callable[..., Joined]


@pytest.fixture
def join(run_program: Callable[..., Child]) -> Iterator[Join]:
    joined: list[Joined] = []

    def join(*args: str) -> Joined:
        joined.append(Joined(run_program(PROGRAM, *args)))
        return joined[-1]

    yield join
    for each in joined:
        each.connection.close()


@pytest.mark.parametrize("name", ["continue", "cont", "c"])
def test_continue_prints_that_the_task_resumes(join: Join, name: str) -> None:
    joined = join()
    assert joined.ask("p total") == "0\n"
    assert joined.ask(name) == f"{safe_pdb.CONTINUES}\n"
    assert joined.result() == "result 5 untraced"


@pytest.mark.parametrize("is_reset", [False, True])
def test_the_task_continues_when_its_client_vanishes(join: Join, is_reset: bool) -> None:
    joined = join()
    if is_reset:
        # Closing a connection with unread data resets it.
        joined.connection.sendall(b"p total\n")
        assert joined.connection.recv(1)
    joined.connection.close()
    assert joined.result() == "result 5 untraced"


@pytest.mark.parametrize("name", ["quit", "q", "exit"])
def test_quit_ends_nothing_by_surprise(join: Join, name: str) -> None:
    joined = join()
    assert joined.ask(f"p 1;; {name};; p 2") == f"1\n{safe_pdb.QUIT_ENDS_TASK}\n2\n"
    assert joined.ask("restart") == joined.ask("run") == f"{safe_pdb.NO_RESTART}\n"
    assert joined.ask("c") == f"{safe_pdb.CONTINUES}\n"
    assert joined.result() == "result 5 untraced"


def test_quit_ends_the_task_on_purpose(join: Join) -> None:
    joined = join()
    assert joined.ask("quit!") == f"{safe_pdb.QUITS}\n"
    assert joined.program.wait_for("failed .*")[0] == "failed BdbQuit()"


def test_a_breakpoint_is_hit_behind_continue(join: Join) -> None:
    joined = join()
    assert "Breakpoint" in joined.ask(f"b {SECOND}")
    assert f"({SECOND})work()" in joined.ask("c")
    assert joined.ask("p total") == "1\n"
    # Only another call would reach the breakpoint again.
    assert joined.ask("c") == f"{safe_pdb.RETURNED}\n"
    assert joined.result() == "result 5 untraced"


def test_breakpoints_are_removed_when_the_client_vanishes(join: Join) -> None:
    joined = join()
    joined.ask(f"b {SECOND}")
    joined.connection.close()
    assert joined.result() == "result 5 untraced"


def test_a_step_out_of_the_task_leaves_it(join: Join) -> None:
    joined = join()
    said = ""
    while safe_pdb.RETURNED not in said:
        said = joined.ask("n")
        assert "ray.made_up" not in said
    assert joined.result() == "result 5 untraced"


def test_all_ways_out_of_a_post_mortem_are_harmless(join: Join) -> None:
    for line in ("c", "q", "quit!"):
        joined = join("post mortem")
        assert joined.ask("p total") == "2\n"
        assert joined.ask(line) == f"{safe_pdb.FAILS_NOW}\n"
        joined.program.wait_for("over")
    joined = join("post mortem")
    joined.connection.close()
    joined.program.wait_for("over")


def test_it_is_nothing_but_an_expression_for_pdb() -> None:
    line = calls.safe_pdb()
    assert line.isascii()
    # pdb would read these as the end of a command, or as a variable.
    assert not re.search(r";;|[$\n%]", line)
    compile(line.removeprefix("!"), "pdb", "eval")


def test_it_raises_outside_of_a_pdb() -> None:
    with pytest.raises(LookupError):
        safe_pdb.override_joined()
