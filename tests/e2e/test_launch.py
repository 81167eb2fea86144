"""`launch` of a program that does not use Ray: its output, its end, and errors before its start."""

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from dap_client import Client, RequestFailed

from support.look import bodies, user_frames
from support.processes import until_ended
from support.terminal import Terminal

PROGRAM = """\
import os, sys
print("to", "stdout", sys.argv[1:], os.environ["COLOUR"], os.getcwd())
print("to stderr", file=sys.stderr)
sys.exit(3)
"""


def test_output_exit_code_and_end(client: Client, nowhere: str, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    arguments = {"program": "program.py", "args": ["a", "b c"], "env": {"COLOUR": "green"}, "cwd": str(tmp_path)}
    client.start_session("launch", {**arguments, "dashboard": nowhere})
    assert client.wait_event("exited") == {"exitCode": 3}
    assert client.wait_event("terminated") == {}
    said: dict[str, str] = {}
    for body in bodies(client, "output"):
        said[body["category"]] = said.get(body["category"], "") + body["output"]
    assert said.pop("console").endswith("program.py has ended with exit code 3.\n")
    assert said == {"stdout": f"to stdout ['a', 'b c'] green {tmp_path}\n", "stderr": "to stderr\n"}
    (process,) = bodies(client, "process")
    assert (process["name"], process["startMethod"]) == ("program.py", "launch")
    assert [event["event"] for event in client.events][-2:] == ["exited", "terminated"]


def test_raydap_off_is_reported_in_the_debug_console(client: Client, nowhere: str, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("print('runs')\n")
    arguments = {"program": str(program), "env": {"RAYDAP": "off"}, "dashboard": nowhere}
    client.start_session("launch", arguments, breakpoints={str(program): [1]})
    assert client.wait_event("exited") == {"exitCode": 0}
    assert not bodies(client, "stopped")
    told = [body["output"] for body in bodies(client, "output") if "RAYDAP=off" in body["output"]]
    text = "program.py: Its environment contains RAYDAP=off, so breakpoints stop neither the program nor its workers."
    assert told == [f"{text} Unset RAYDAP. [raydap 3008]\n"]


def test_a_module(client: Client, nowhere: str) -> None:
    client.start_session("launch", {"module": "timeit", "args": ["-n", "1", "pass"], "dashboard": nowhere})
    assert client.wait_event("exited") == {"exitCode": 0}
    assert any("loop" in body["output"] for body in bodies(client, "output"))


def test_the_program_ends_with_its_session(client: Client, nowhere: str, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("import os, time\nprint(f'pid {os.getpid()}', flush=True)\ntime.sleep(3600)\n")
    client.start_session("launch", {"program": str(program), "dashboard": nowhere})
    output = client.wait_event("output", lambda body: body["output"].startswith("pid "))["output"]
    client.request("disconnect")
    gone = Path(f"/proc/{output.split()[1]}")
    with pytest.raises(ConnectionError):
        client.wait_event("terminated")
    until_ended(int(gone.name))


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"program": "missing.py"}, r'"missing\.py" \(program\)'),
        ({"program": "x.py", "cwd": "/no/such/folder"}, r'"/no/such/folder" \(cwd\)'),
        ({"module": "timeit", "python": "/no/such/python"}, "/no/such/python"),
    ],
)
def test_what_cannot_be_started(client: Client, nowhere: str, arguments: dict[str, Any], named: str) -> None:
    with pytest.raises(RequestFailed, match=rf"{named}.*\[raydap 4001\]"):
        client.start_session("launch", {**arguments, "dashboard": nowhere})
    # After a failed launch, the same connection can launch again.
    client.send("launch", module="timeit", args=["-n", "1", "pass"], dashboard=nowhere)
    client.wait_event("initialized")
    client.request("configurationDone")
    assert client.wait_event("exited") == {"exitCode": 0}


FAILS = """\
def divide(number):
    return 1 / number

divide(0)
"""


@pytest.mark.core
@pytest.mark.parametrize("line", [0, 1, 4])
@pytest.mark.parametrize("what", ["program", "module"])
def test_an_uncaught_exception_stops(client: Client, nowhere: str, tmp_path: Path, what: str, line: int) -> None:
    path = tmp_path / "fails.py"
    path.write_text(FAILS)
    arguments = {what: {"program": str(path), "module": "fails"}[what], "cwd": str(tmp_path), "dashboard": nowhere}
    client.start_session("launch", arguments, breakpoints={str(path): [line] if line else []}, filters=["uncaught"])
    if line:
        stop = client.wait_event("stopped")
        assert (stop["reason"], user_frames(client, stop)[0]["line"]) == ("breakpoint", line)
        client.request("continue", threadId=stop["threadId"])
    stop = client.wait_event("stopped")
    assert (stop["reason"], user_frames(client, stop)[0]["line"]) == ("exception", 2)
    client.request("continue", threadId=stop["threadId"])
    assert client.wait_event("exited") == {"exitCode": 1}


def test_waits_show_where_the_exception_of_a_stopped_thread_was_raised(
    client: Client, nowhere: str, tmp_path: Path
) -> None:
    program = tmp_path / "program.py"
    program.write_text("def divide(number):\n    return 1 / number\ndivide(0)\n")
    client.start_session("launch", {"program": str(program), "dashboard": nowhere}, filters=["uncaught"])
    client.wait_event("stopped")
    answer = client.request("raydap/waits")
    assert [node["text"] for node in answer["nodes"]] == ["stopped in divide (program.py:2)"]


def test_exception_info_at_another_stop_prints_nothing(client: Client, nowhere: str, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("total = 1\ntotal += 1\n")
    client.start_session("launch", {"program": str(program), "dashboard": nowhere}, breakpoints={str(program): [2]})
    stop = client.wait_event("stopped")
    with pytest.raises(RequestFailed, match="has stopped for an exception"):
        client.request("exceptionInfo", threadId=stop["threadId"])
    client.request("continue", threadId=stop["threadId"])
    client.wait_event("terminated")
    assert [body for body in bodies(client, "output") if body["category"] in ("stdout", "stderr")] == []


def test_a_linked_file_is_shown_by_the_path_of_its_breakpoint(client: Client, nowhere: str, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "real" / "program.py").write_text("total = 1\ntotal += 1\n")
    set_in = str(tmp_path / "link" / "program.py")
    arguments = {"program": str(tmp_path / "real" / "program.py"), "dashboard": nowhere}
    client.start_session("launch", arguments, breakpoints={set_in: [2]})
    stop = client.wait_event("stopped")
    assert user_frames(client, stop)[0]["source"]["path"] == set_in


def test_an_input_is_explained_and_the_variables_of_a_file_count(client: Client, nowhere: str, tmp_path: Path) -> None:
    (tmp_path / "job.env").write_text("PROMPT=Epochs?\n")
    (tmp_path / "program.py").write_text("import os, sys\nprint(sys.flags.dev_mode)\ninput(os.environ['PROMPT'])\n")
    arguments = {"program": "program.py", "cwd": str(tmp_path), "envFile": "job.env", "dashboard": nowhere}
    python = [sys.executable, "-X", "dev"]
    client.start_session("launch", {**arguments, "python": python, "console": "integratedTerminal"})
    assert client.wait_event("exited") == {"exitCode": 1}
    client.wait_event("terminated")
    printed = "".join(body["output"] for body in bodies(client, "output") if body["category"] == "stdout")
    assert printed == "True\nEpochs?"
    told = [body["output"] for body in bodies(client, "output") if body["category"] == "console"]
    assert [text.partition(" a launched program has no terminal")[0] for text in told[:2]] == [
        '"console": "integratedTerminal" has no effect here:',
        "input() failed:",
    ]


ENTRY = '"""The program."""\nimport module_of_program\nprint("second")\n'


@pytest.mark.parametrize("console", ["internalConsole", "integratedTerminal"])
@pytest.mark.parametrize("kind", ["program", "module"])
def test_stop_on_entry(client: Client, nowhere: str, tmp_path: Path, kind: str, console: str) -> None:
    (tmp_path / "package").mkdir()
    program = tmp_path / "package" / "program.py"
    program.write_text(ENTRY)
    (tmp_path / "module_of_program.py").write_text("first = 1\n")
    what = {"program": str(program)} if kind == "program" else {"module": "package.program"}
    env = {"PYTHONPATH": str(tmp_path)}
    terminals: list[Terminal] = []
    with ExitStack() as stack:

        def open_terminal(arguments: dict[str, Any]) -> dict[str, Any]:
            terminals.append(stack.enter_context(Terminal(arguments["args"], cwd=Path(arguments["cwd"]))))
            return {}

        client.answers["runInTerminal"] = open_terminal
        arguments = {**what, "cwd": str(tmp_path), "env": env, "console": console, "dashboard": nowhere}
        client.start_session("launch", {**arguments, "stopOnEntry": True}, supportsRunInTerminalRequest=True)
        stop = client.wait_event("stopped")
        assert (stop["reason"], stop["description"]) == ("entry", "entry")
        frame = user_frames(client, stop)[0]
        assert (frame["name"], frame["line"]) == ("<module>", 2)
        (thread,) = client.request("threads")["threads"]
        assert thread["name"].startswith(f"driver {'program.py' if kind == 'program' else 'package.program'} · ")
        client.request("next", threadId=stop["threadId"])
        assert client.wait_event("stopped")["reason"] == "step"
        client.request("continue", threadId=stop["threadId"])
        assert client.wait_event("exited") == {"exitCode": 0}
        assert len(terminals) == (console == "integratedTerminal")
