"""`launch` of a program that does not use Ray, in a terminal that the client opens."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from dap_client import Client, RequestFailed

from support.bridge import Bridge
from support.look import bodies, go_on, user_frames
from support.processes import until_ended
from support.terminal import Terminal

PROGRAM = """\
import os, signal, sys, time
answer = input(f"Epochs on {os.environ['COLOUR']}? ")
print("terminal", sys.stdout.isatty(), os.environ["TERM"], os.getcwd())
if answer == "wait":
    try:
        time.sleep(600)
    except KeyboardInterrupt:
        print("interrupted")
        sys.exit(5)
sys.exit(int(answer))
"""


class Terminals:
    """The terminals of an editor."""

    def __init__(self, stack: ExitStack) -> None:
        self.opened: list[Terminal] = []
        self.requests: list[dict[str, Any]] = []
        self._stack = stack

    def open(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Open a terminal for a runInTerminal request; return the body of the response."""
        self.requests.append(arguments)
        # The shell of an editor survives a command that is killed (137), and the kernel ends what runs with the shell.
        shell = ["sh", "-c", '"$@"; code=$?; [ $code != 137 ] || read _; exit $code', "sh"]
        terminal = Terminal([*shell, *arguments["args"]], cwd=Path(arguments["cwd"]), columns=200)
        self.opened.append(self._stack.enter_context(terminal))
        return {"shellProcessId": terminal.process.pid}


@pytest.fixture
def terminals(client: Client) -> Iterator[Terminals]:
    with ExitStack() as stack:
        terminals = Terminals(stack)
        client.answers["runInTerminal"] = terminals.open
        yield terminals


def launch(client: Client, terminals: Terminals, nowhere: str, folder: Path, *stop_at: int) -> Terminal:
    """Launch the program with breakpoints in these lines. Return its terminal, in which it asks its question."""
    (folder / "program.py").write_text(PROGRAM)
    arguments = {"program": "program.py", "cwd": str(folder), "env": {"COLOUR": "green"}, "dashboard": nowhere}
    client.start_session(
        "launch",
        {**arguments, "console": "integratedTerminal"},
        breakpoints={str(folder / "program.py"): stop_at},
        supportsRunInTerminalRequest=True,
    )
    terminals.opened[0].wait_for(r"Epochs on green\?")
    return terminals.opened[0]


def test_a_program_asks_its_user_and_stops_at_a_breakpoint(
    client: Client, terminals: Terminals, nowhere: str, tmp_path: Path
) -> None:
    terminal = launch(client, terminals, nowhere, tmp_path, 10)
    (request,) = terminals.requests
    assert (request["kind"], request["title"], request["cwd"]) == ("integrated", "program.py", str(tmp_path))
    terminal.line("3")
    stop = client.wait_event("stopped")
    assert user_frames(client, stop)[0]["line"] == 10
    go_on(client, stop)
    assert client.wait_event("exited") == {"exitCode": 3}
    client.wait_event("terminated")
    assert f"terminal True xterm-256color {tmp_path}" in terminal.text
    assert terminal.process.wait() == 3
    assert {body["category"] for body in bodies(client, "output")} == {"console"}
    socket_of_raydap = Path(request["args"][-1])
    assert not socket_of_raydap.parent.exists()


def test_control_c_interrupts_the_program_alone(
    client: Client, terminals: Terminals, nowhere: str, tmp_path: Path
) -> None:
    terminal = launch(client, terminals, nowhere, tmp_path)
    terminal.line("wait")
    terminal.wait_for("terminal True")
    terminal.send("\x03")
    assert client.wait_event("exited") == {"exitCode": 5}
    assert terminal.wait_for("interrupted")


@pytest.mark.parametrize("way", ["terminate", "disconnect"])
def test_the_end_of_the_session_ends_the_program(
    client: Client, terminals: Terminals, nowhere: str, tmp_path: Path, way: str
) -> None:
    terminal = launch(client, terminals, nowhere, tmp_path)
    (process,) = bodies(client, "process")
    client.request(way)
    if way == "terminate":
        assert client.wait_event("exited") == {"exitCode": 143}
    until_ended(process["systemProcessId"])
    assert terminal.process.wait() == 143


def test_a_terminal_that_is_closed_ends_the_program_and_the_session(
    client: Client, terminals: Terminals, nowhere: str, tmp_path: Path
) -> None:
    terminal = launch(client, terminals, nowhere, tmp_path)
    terminal.end()
    client.wait_event("terminated")
    (process,) = bodies(client, "process")
    until_ended(process["systemProcessId"])


def test_a_launcher_that_is_killed_ends_the_program_and_the_session(
    client: Client, terminals: Terminals, nowhere: str, tmp_path: Path
) -> None:
    launch(client, terminals, nowhere, tmp_path)
    (process,) = bodies(client, "process")
    program = process["systemProcessId"]
    launcher = int(Path(f"/proc/{program}/stat").read_text().rpartition(")")[2].split()[1])
    os.kill(launcher, signal.SIGKILL)
    assert client.wait_event("exited") == {"exitCode": 129}
    until_ended(program)


def test_a_program_ends_with_an_editor_that_vanishes(
    client: Client, terminals: Terminals, nowhere: str, tmp_path: Path
) -> None:
    terminal = launch(client, terminals, nowhere, tmp_path)
    client.close()
    assert terminal.process.wait() == 143


def test_a_program_outlives_a_raydap_that_is_killed(
    children: ExitStack, connect_to: Callable[[str, int], Client], nowhere: str, tmp_path: Path
) -> None:
    bridge = Bridge.start_as_command(tmp_path / "adapter.log")
    children.callback(bridge.child.end)
    client = connect_to(bridge.host, bridge.port)
    terminals = Terminals(children)
    client.answers["runInTerminal"] = terminals.open
    terminal = launch(client, terminals, nowhere, tmp_path)
    bridge.child.process.kill()
    bridge.child.wait()
    terminal.line("3")
    assert terminal.process.wait() == 3
    assert "terminal True" in terminal.text
    assert "Traceback" not in terminal.text


def test_a_program_that_is_missing_fails_the_launch_and_leaves_a_sentence_in_the_terminal(
    client: Client, terminals: Terminals, nowhere: str, tmp_path: Path
) -> None:
    arguments = {"program": "nothing.py", "cwd": str(tmp_path), "dashboard": nowhere, "console": "integratedTerminal"}
    with pytest.raises(RequestFailed, match=r'the file "nothing\.py" \(program\) does not exist'):
        client.start_session("launch", arguments, supportsRunInTerminalRequest=True)
    terminals.opened[0].wait_for("raydap has not started the program; the editor shows the reason.")


def test_a_command_that_is_repeated_later_starts_nothing(
    client: Client, terminals: Terminals, nowhere: str, tmp_path: Path
) -> None:
    terminal = launch(client, terminals, nowhere, tmp_path)
    terminal.line("0")
    client.wait_event("terminated")
    terminals.open(terminals.requests[0])
    terminals.opened[1].wait_for("raydap does not wait for this program any more")
    assert terminals.opened[1].process.wait() == 1


def test_a_restart_runs_in_a_terminal_again(client: Client, terminals: Terminals, nowhere: str, tmp_path: Path) -> None:
    first = launch(client, terminals, nowhere, tmp_path)
    client.request("restart")
    client.wait_event("process", lambda body: body != bodies(client, "process")[0])
    terminals.opened[1].wait_for(r"Epochs on green\?")
    assert first.process.wait() == 143
    terminals.opened[1].line("0")
    assert client.wait_event("exited") == {"exitCode": 0}
