"""`raydap debug` in a real terminal, with real workers."""

import json
import os
import signal
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest
from local_cluster import Child, Cluster

from support.bridge import Hub
from support.look import line_of
from support.raydap_command import RAYDAP, raydap
from support.terminal import Terminal
from support.tries import tries

PROGRAM = """\
import ray

@ray.remote(num_cpus=0.1)
class Trainer:
    def train(self, rank):
        total = 0
        for step in range(3):
            loss = self.learn(rank, step)
            total += loss
            breakpoint()
            self.rank = rank
        return total

    def learn(self, rank, step):
        scale = {"rank": rank, "step": step}
        loss = rank * 10 + step
        return loss

ray.init(log_to_driver=False)
trainers = [Trainer.remote() for _ in range(TRAINERS)]
ray.wait([trainer.train.remote(rank) for rank, trainer in enumerate(trainers)], num_returns=TRAINERS)
print("result: ended")
"""

HERE = line_of(PROGRAM, "breakpoint()")
CALL = line_of(PROGRAM, "self.learn(rank, step)")
LOSS = line_of(PROGRAM, "loss = rank * 10")


def program(trainers: int) -> str:
    """Return the program with this many trainers: each is a process, and has a debugger."""
    return PROGRAM.replace("TRAINERS", str(trainers))


PROMPT = r"^\(Trainer \d\) ?"

Stopped = Callable[[int], tuple[Terminal, Child]]


@pytest.fixture
def debug(cluster: Cluster, children: ExitStack, tmp_path: Path) -> Callable[..., Terminal]:
    """Return `debug(*arguments)`, which starts `raydap debug` in a terminal, for the cluster."""

    def start(*arguments: str, columns: int = 120, cwd: Path | None = None) -> Terminal:
        env = {"RAY_ADDRESS": cluster.address, "HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(tmp_path)}
        where = () if "--connect" in arguments else ("--dashboard", cluster.dashboard)
        return children.enter_context(Terminal([*RAYDAP, "debug", *where, *arguments], env, columns, cwd=cwd))

    return start


def all_stopped(terminal: Terminal, trainers: int) -> None:
    """Wait until all trainers have stopped and have ranks. Ray's report of what they run comes later than the stops."""
    shown = ""
    while f"Trainer{{0-{trainers - 1}}}" not in shown:
        shown = terminal.ask("[all] p 'stopped'", r"^'stopped'  .*$|^\*\*\* .*$")[0]


@pytest.fixture
def stopped(debug: Callable[..., Terminal], run_driver: Callable[..., Child]) -> Stopped:
    """Return `stopped(trainers)`, which starts a terminal and trainers, and waits for all their first breakpoint()s."""

    def start(trainers: int) -> tuple[Terminal, Child]:
        terminal = debug()
        terminal.wait_for(r"^\(raydap\)")
        driver = run_driver(program(trainers))
        terminal.wait_for(PROMPT)
        all_stopped(terminal, trainers)
        return terminal, driver

    return start


def test_one_worker(stopped: Stopped, cluster: Cluster) -> None:
    terminal, driver = stopped(3)
    terminal.ask("focus 1", rf"^> Trainer 1 program0\.py\({HERE}\)train\(\)\n-> breakpoint\(\)$")
    rank = int(terminal.ask("p rank", r"^\d$")[0])
    terminal.ask("args", rf"^rank = {rank}\nself = <")
    terminal.ask("b 16", r"^Breakpoint 1 at .*:16$")
    terminal.ask("list 9, 17", rf"^ +{HERE}  -> +breakpoint\(\)\n(.*\n)+ +16 B  +loss = ")
    terminal.ask("c", rf"^> Trainer 1 program0\.py\({LOSS}\)learn\(\)")
    terminal.ask("w", rf"^  program0\.py\({CALL}\)train\n-> .*\n> program0\.py\({LOSS}\)learn")
    terminal.ask("up", rf"^> Trainer 1 program0\.py\({CALL}\)train")
    terminal.ask("p(total)", rf"^{rank * 10}$")
    terminal.ask("down", rf"^> Trainer 1 program0\.py\({LOSS}\)learn")
    terminal.ask("p rank ;; p(rank + 1)", rf"^{rank}\n{rank + 1}$")
    terminal.ask("pp scale", rf"^{{'rank': {rank}, 'step': 1}}$")
    terminal.ask("whatis scale", r"^<class 'dict'>$")
    terminal.ask("display loss", r"^display loss: \*\*\* NameError: name 'loss' is not defined$")
    terminal.ask("n", rf"^-> return loss\ndisplay loss: {rank * 10 + 1}$")
    terminal.ask("", r"^> Trainer 1 .*train\(\)\n.*\ndisplay loss: ")
    terminal.ask("undisplay", PROMPT)
    terminal.ask("clear 1", r"^Removed the breakpoint at .*:16$")
    terminal.ask("until", rf"program0\.py\({HERE - 1}\)train")
    terminal.ask("jump 8", r"program0\.py\(8\)train")
    terminal.ask("s", r"program0\.py\(15\)learn")
    terminal.ask("return", r"program0\.py\((8|9)\)train")
    terminal.line("total = 1000")
    terminal.ask("total", r"^1000$")
    terminal.ask("!p = 3", PROMPT)
    terminal.ask("p p", r"^3$")
    terminal.ask("p nothing", r"^\*\*\* NameError: name 'nothing' is not defined$")
    terminal.ask("help until", r"^unt\(il\) \[LINE\]$")
    terminal.ask("jump x", r"^\*\*\* Give the next line to execute: jump 42\.$")
    terminal.ask("detach 2", PROMPT)
    terminal.ask("[all] p 1", r"^1  2  Trainer\{0-1\}$")
    terminal.ask("q", r"^2 workers keep running: Trainer\{0-1\}\.$")
    assert terminal.wait() == 0
    # Each worker has continued to its next breakpoint().
    for _ in tries():
        rows = json.loads(raydap("ps", "--json", "--dashboard", cluster.dashboard, "state:paused"))
        if [row["state"] for row in rows] == ["paused"] * 3:
            break
    assert [(row["state"], row["line"]) for row in rows] == [("paused", HERE)] * 3
    assert driver.process.poll() is None


def test_many_workers_at_once(stopped: Stopped) -> None:
    terminal, driver = stopped(3)
    terminal.ask("[all] p 'x'", r"^'x'  3  Trainer\{0-2\}$")
    terminal.ask("[all] rank", r"^min 0  max 2  mean 1 ")
    terminal.ask("[0-1] p len('abc')", r"^3  2  Trainer\{0-1\}$")
    terminal.ask("[where rank == 2] whatis rank", r"^<class 'int'>  1  Trainer \d$")
    terminal.ask("compare rank", r"^min 0  max 2  mean 1 ")
    terminal.ask("stacks", rf"^3 stopped +Trainer\{{0-2\}}\n +3 train \(program0\.py:{HERE}\)$")
    terminal.ask("[0,2] n", rf"^\+ 2 Trainer\{{0,2\}} stopped in train \(program0\.py:{HERE + 1}\)$")
    terminal.ask("[all] w", rf"^Trainer 1 missing in train \(program0\.py:{HERE + 1}\), where 2 of 3 are$")
    terminal.ask("focus Trainer", r"^Commands now apply to 3 threads; `focus` without a set ends that\.\n\(Trainer\)")
    terminal.ask("mark = 7", r"^Executed in 3 of 3 threads\.$")
    terminal.ask("p mark", r"^7  3  Trainer\{0-2\}$")
    terminal.ask("focus", PROMPT)
    terminal.ask("[nobody] p 1", r"^No thread is stopped\.$")
    terminal.ask("[nobody] n", r"^\*\*\* No worker in this set is stopped\.$")
    terminal.ask("[actr:x] p 1", r"^\*\*\* .*actr")
    terminal.ask("tbreak 16", r"^Breakpoint 1 at .*:16$")
    terminal.ask("break", r"^1   tbreak at .*:16$")
    terminal.ask("[all] c", rf"learn \(program0\.py:{LOSS}\)$|program0\.py\({LOSS}\)learn")
    terminal.ask("barrier 9 3", r"^Breakpoint 2 at .*:9$")
    terminal.ask("break", r"^2   break  at .*:9\s+hit\s+all 3$")
    terminal.ask("[all] c", r"^\+ 3 Trainer\{0-2\} stopped in train \(program0\.py:9\)$")
    terminal.ask("clear", r"^Removed all breakpoints\.$")
    while driver.process.poll() is None:
        terminal.ask("[all] c", r"^Resumed \d threads?\.$|^\*\*\* .*$")
    driver.wait_for("result: ended")
    terminal.press("\x04")
    terminal.wait_for(r"^No worker is attached\.$")
    assert terminal.wait() == 0


def test_typing(stopped: Stopped) -> None:
    """Test completion, blocks of several lines, history, another width of the terminal, and Ctrl-C."""
    terminal, _ = stopped(2)
    terminal.press("p self.lea\t")
    terminal.wait_for(r"p self\.learn")
    terminal.ask("(4, 2)", r"^42$")
    terminal.press("longl\t")
    terminal.wait_for(r"\) longlist")
    terminal.ask("", r"^ +5  +def train")
    terminal.press("[actor:Tr\t")
    terminal.wait_for(r"\) \[actor:Trainer")
    terminal.ask("] p 1", r"^1  2  Trainer")
    terminal.line("for number in range(2):")
    terminal.line("print('number', number * 21)")
    terminal.ask("", r"^\[Trainer \d+\] number 21$")
    terminal.ask("p 'still ' + 'here'", r"^'still here'$")
    before = len(terminal.text)
    terminal.press("\x1b[A")
    terminal.wait_for(r"p 'still ' \+ 'here'$", after=before)
    terminal.send("\x03")
    terminal.ask("p 'a new ' + 'line'", r"^'a new line'$")
    terminal.press("p 'wid")
    terminal.resize(60, 20)
    terminal.line("e' + 'r'")
    terminal.wait_for(r"^'wider'$")
    terminal.press("\x03")
    terminal.wait_for(r"^`quit` leaves the debugger; the workers keep running\.$")
    terminal.line("q")
    assert terminal.wait() == 0
    assert "\x1b[" in terminal.raw.decode()


def test_a_killed_worker(stopped: Stopped) -> None:
    terminal, driver = stopped(3)
    pid = int(terminal.ask("p __import__('os').getpid()", r"^\d+$")[0])
    os.kill(pid, signal.SIGKILL)
    terminal.wait_for(r"^Trainer \d\b.* is gone ")
    terminal.ask("p 1", r"^\*\*\* This worker is not stopped any more; `focus` switches to the next stopped one\.$")
    terminal.ask("focus", rf"^> Trainer( \d)? program0\.py\({HERE}\)train\(\)$")
    terminal.ask("[all] p 1", r"^1  2  Trainer\{\d")
    terminal.ask("[all] c", r"^Resumed 2 threads\.$")
    terminal.wait_for(PROMPT)
    terminal.line("q")
    assert terminal.wait() == 0
    assert driver.process.poll() is None


ENDLESS = """\
import ray, threading

@ray.remote(num_cpus=0.1)
class Spinner:
    def spin(self):
        breakpoint()
        turns = 0
        while not self.is_over(turns):
            turns += 1
            if turns == 3:
                print("turning")
        return turns

    def is_over(self, turns):
        threading.Event().wait(0.01)
        return getattr(self, "over", False)

ray.init()
print(f"result: {ray.get(Spinner.remote().spin.remote())}")
"""


def test_ctrl_c_pauses_what_runs(debug: Callable[..., Terminal], run_driver: Callable[..., Child]) -> None:
    driver = run_driver(ENDLESS)
    terminal = debug("actor:Spinner")
    terminal.wait_for(r"^\(Spinner\) ?")
    terminal.line("c")
    driver.wait_for("turning")
    before = len(terminal.text)
    terminal.send("\x03")
    terminal.wait_for(r"^> Spinner .*\n-> ", after=before)
    assert int(terminal.ask("p turns", r"^\d+$")[0]) >= 3
    terminal.ask("self.over = True", r"self\.over = True\n\(Spinner\)")
    terminal.press("\x04")
    terminal.wait_for(r"^1 worker keeps running: Spinner\.$")
    assert terminal.wait() == 0
    driver.wait_for("result: ")


def test_a_launched_program(debug: Callable[..., Terminal], tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text('"""Trains."""\n' + program(2) + "\nimport sys\nsys.exit(int(sys.argv[1]))\n")
    terminal = debug(str(path), "7")
    terminal.wait_for(r"^> driver train\.py train\.py\(2\)<module>\n-> import ray\n")
    terminal.ask(f"b {LOSS + 1}, rank == 1 and step == 1", rf"^Breakpoint 1 at .*:{LOSS + 1}$")
    terminal.line("c")
    for _ in range(2):
        terminal.wait_for(rf"train \(train\.py:{HERE + 1}\)$|train\.py\({HERE + 1}\)train")
    all_stopped(terminal, 2)
    terminal.ask("[all] c", rf"learn \(train\.py:{LOSS + 1}\)$|train\.py\({LOSS + 1}\)learn")
    terminal.ask("[line:train.py:17] p [rank, step]", r"^\[1, 1\]  1  Trainer")
    terminal.ask("clear", r"^Removed all breakpoints\.$")
    # The session may end before the next line is typed.
    while "The session is over." not in (shown := terminal.text):
        terminal.line("[all] c")
        terminal.wait_for(r"^\(.*\) ?$|^The session is over\.$", after=len(shown))
    assert terminal.wait() == 7


def test_ctrl_c_before_the_first_stop(debug: Callable[..., Terminal]) -> None:
    # A library has no first line of the user's code, at which it would stop.
    terminal = debug("--all-code", "-m", "http.server", "--bind", "127.0.0.1", "0")
    terminal.wait_for(r"^Serving HTTP on ")
    terminal.send("\x03")
    terminal.wait_for(r"^Cancelled\.\n\(raydap\)")
    terminal.press("\x03")
    terminal.wait_for(r"^> driver http\.server \w+\.py\(\d+\)\w+\(\)\n-> ")
    terminal.line("q")
    terminal.wait_for(r"^The program ends together with the debugger\.$")
    assert terminal.wait() == 0


def test_an_exception_of_a_launched_program(debug: Callable[..., Terminal], tmp_path: Path) -> None:
    path = tmp_path / "fails.py"
    path.write_text("def divide(number):\n    return 1 / number\n\n\ndivide(0)\n")
    terminal = debug(str(path))
    terminal.wait_for(r"^> driver .*\n-> def divide")
    terminal.ask("c", r"^\*\*\* ZeroDivisionError: division by zero\n> driver fails\.py fails\.py\(2\)divide\(\)$")
    terminal.ask("p number", r"^0$")
    terminal.line("c")
    terminal.wait_for(r"^The session is over\.$")
    assert terminal.wait() == 1


def test_a_killed_hub(
    debug: Callable[..., Terminal],
    cluster: Cluster,
    run_driver: Callable[..., Child],
    children: ExitStack,
    tmp_path: Path,
) -> None:
    hub = Hub.start(tmp_path / "hub.log", "--dashboard", cluster.dashboard)
    children.callback(hub.child.end)
    token = tmp_path / "token"
    token.touch(0o600)
    token.write_text(hub.token)
    driver = run_driver(program(2))
    terminal = debug("--connect", hub.url, "--token-file", str(token))
    terminal.wait_for(PROMPT)
    hub.child.process.kill()
    terminal.wait_for(r"^\*\*\* The connection to the hub at .* is lost: .*\.$")
    assert terminal.wait() == 1
    assert driver.process.poll() is None


CALLS = """\
import ray

@ray.remote(num_cpus=0.1)
def outer(number):
    value = ray.get(inner.remote(number))
    return value * 2

@ray.remote(num_cpus=0.1)
def inner(number):
    return number + 1

ray.init(log_to_driver=False)
result = ray.get(outer.remote(1))
print("result:", result)
"""


def test_a_step_goes_into_a_task_and_back(debug: Callable[..., Terminal], cluster: Cluster, tmp_path: Path) -> None:
    program = tmp_path / "calls.py"
    program.write_text(CALLS)
    terminal = debug(str(program))
    terminal.wait_for(r"^\(driver.*\) ?")
    call = line_of(CALLS, "ray.get(outer")
    terminal.ask(f"tbreak {call}", r"^Breakpoint 1 at ")
    terminal.ask("c", rf"^> driver.* calls\.py\({call}\)<module>")
    # Ray reports what a new worker runs later than the stop.
    terminal.ask("s", r"^> .* calls\.py\(5\)outer")
    terminal.ask("remote", r"^> .* calls\.py\(10\)inner")
    terminal.ask("r", r"^> .* calls\.py\(5\)outer")
    terminal.ask("get", rf"^> driver.* calls\.py\({call}\)<module>")
    terminal.ask("c", r"^result: 4$")
    terminal.wait()
