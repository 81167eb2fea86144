"""`raydap mcp` with programs that do not use Ray: the protocol, secrets, bad agents, and the end."""

import asyncio
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest
from local_cluster import clean_environment
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from raydap.client.joining import SessionTarget
from raydap.mcp_server.mcp_options import McpOptions
from raydap.mcp_server.tool_server import ToolServer
from support.look import line_of
from support.mcp_client import PATIENCE_S, McpClient
from support.processes import until_ended

PROGRAM = """\
import time

def step(number, api_key="sk-abcdefghijklmnopqrstuv"):
    print("step", number, "password=hunter2", flush=True)
    return number * 2  # result

total = 0
for number in range(3):
    total += step(number)
open("ended", "w").close()
print("total", total)
"""

LINE = line_of(PROGRAM, "# result")

WAITS = """\
import os, threading

def wait():
    print("pid", os.getpid(), flush=True)
    while not os.path.exists("end"): threading.Event().wait(0.05)  # waits

wait()
open("ended", "w").close()
"""


@pytest.fixture
def agent(tmp_path: Path, nowhere: str, children: ExitStack) -> Callable[..., McpClient]:
    """Return `agent(*options)`, which returns a client; no cluster of this machine is used."""
    return lambda *options: children.enter_context(McpClient(tmp_path, "--dashboard", nowhere, *options))


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_official_client_speaks_the_old_and_the_new_protocol(tmp_path: Path, nowhere: str, mode: str) -> None:
    environment = clean_environment({"XDG_RUNTIME_DIR": str(tmp_path)})
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "raydap", "mcp", "--dashboard", nowhere], env=environment, cwd=tmp_path
    )

    async def talk() -> None:
        (tmp_path / "train.py").write_text(PROGRAM)
        async with Client(stdio_client(server), mode=mode) as client:
            assert len((await client.list_tools()).tools) == 10
            answer = await client.call_tool("start", {"program": "train.py", "breakpoints": [f"train.py:{LINE}"]})
            assert not answer.is_error
            assert answer.structured_content is None
            (content,) = answer.content
            assert content.type == "text"
            assert f"train.py:{LINE} in step, breakpoint" in content.text
            await client.call_tool("end", {"how": "terminate"})

    asyncio.run(talk())
    assert not (tmp_path / "ended").exists()


def test_a_program_from_its_start_to_its_end(agent: Callable[..., McpClient], tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PROGRAM)
    client = agent()
    assert client.server["instructions"].startswith("raydap debugs all processes")
    text = client.call("start", program="train.py", breakpoints=[f"train.py:{LINE} if number == 1"])
    assert text.startswith("1 stopped\n1 driver ")
    assert f"breakpoint train.py:{LINE} if number == 1: set in 1 worker\n" in text
    assert "step 0 password=***\nstep 1 password=***\n" in text
    text = client.call("look")
    assert f">{LINE:4}     return number * 2  # result\n" in text
    assert "api_key = ***\n" in text
    assert "number = 1\n" in text
    assert "number + 1 = 2\n" in client.call("look", names=["number + 1"])
    assert client.call("values", expressions=["api_key"]).splitlines()[1].startswith("***")
    assert "is a statement" in client.refused("values", expressions=["number = 7"])
    assert 'wait(until="end")' in client.refused("end")
    assert "is running; wait()" in client.refused("start", program="train.py")
    assert f"train.py:{line_of(PROGRAM, 'total += step')}" in client.call("go", action="out")
    assert "1 breakpoint of yours removed" in client.call("breakpoint", remove=True)
    text = client.call("go", action="continue", wait=30)
    assert text.startswith("train.py has ended with exit code 0\n")
    assert "total 6" in text
    assert client.call("wait", until="end").startswith("train.py has ended")
    assert client.refused("look").endswith('Next: start(program="..."), or end()')
    assert client.call("end").startswith("no session\n")
    assert (tmp_path / "ended").exists()


def test_secrets_and_statements_are_the_users_choice(agent: Callable[..., McpClient], tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PROGRAM)
    client = agent("--show-secrets", "--allow-code")
    assert "password=hunter2" in client.call("start", program="train.py", breakpoints=[f"train.py:{LINE}"])
    assert "sk-abcdefghijklmnopqrstuv" in client.call("look")
    client.call("look", names=["number = 50"])
    assert "number = 50\n" in client.call("look")
    client.call("end", how="terminate")


def test_read_only_offers_five_tools(agent: Callable[..., McpClient]) -> None:
    client = agent("--read-only")
    tools = client.result(client.send("tools/list", {}))["tools"]
    assert [each["name"] for each in tools] == ["status", "wait", "look", "stacks", "hang"]
    assert 'There is no tool "go"' in client.refused("go", action="continue")


def test_calls_at_once_cancelled_and_before_the_start(agent: Callable[..., McpClient], tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(WAITS)
    client = agent()
    numbers = [client.begin("go", action="next"), client.begin("status"), client.begin("look"), client.begin("stak")]
    texts = [client.answer(number)[0] for number in numbers]
    assert all("cannot be reached" in text for text in texts[:3])
    assert "did you mean stacks?" in texts[3]
    assert "There is no file trian.py" in client.refused("start", program="trian.py")
    text = client.call("start", program="train.py", wait=0)
    while "pid " not in text:
        text = client.call("wait", seconds=1)
    waiting = client.begin("wait", seconds=45)
    paused = client.begin("go", action="pause", wait=20)
    assert "in wait, pause" in client.answer(paused)[0]
    assert "in wait, pause" in client.answer(waiting)[0]
    client.call("go", action="continue", wait=0)
    cancelled = client.begin("wait", seconds=45)
    client.notify("notifications/cancelled", {"requestId": cancelled})
    line = line_of(WAITS, "# waits")
    text = client.call("breakpoint", at=f"train.py:{line}")
    assert "set in 1 worker" in text
    assert f"train.py:{line} in wait, breakpoint" in client.call("wait")
    assert "is stopped" in client.refused("go", action="next", set="rank:17")
    client.call("breakpoint", remove=True)
    (tmp_path / "end").touch()
    assert client.call("go", action="continue", wait=30).startswith("train.py has ended")


@pytest.mark.parametrize("how", ["the end of the input", signal.SIGTERM, signal.SIGHUP])
def test_the_program_that_it_has_started_ends_with_it(
    agent: Callable[..., McpClient], tmp_path: Path, how: str | signal.Signals
) -> None:
    (tmp_path / "train.py").write_text(WAITS)
    client = agent()
    text = client.call("start", program="train.py", wait=0)
    while "pid " not in text:
        text += client.call("wait", seconds=1)
    client.call("go", action="pause", wait=20)
    pid = int(text.partition("pid ")[2].split()[0])
    if isinstance(how, signal.Signals):
        client.process.send_signal(how)
        expected = 128 + how
    else:
        client.close_input()
        expected = 0
    assert client.process.wait(PATIENCE_S) == expected
    until_ended(pid)


def wait_for_file(path: Path) -> None:
    until = time.monotonic() + PATIENCE_S
    while not path.exists():
        assert time.monotonic() < until, path
        time.sleep(0.02)


def test_a_launched_program_runs_to_its_end_if_the_agent_has_forgotten_it(tmp_path: Path, nowhere: str) -> None:
    """It ends with the session, so the session stays."""
    (tmp_path / "train.py").write_text(PROGRAM)
    given = {"program": "train.py", "cwd": str(tmp_path), "breakpoints": [f"train.py:{LINE}"]}

    async def talk() -> str:
        server = ToolServer(SessionTarget(dashboard=nowhere), McpOptions(), idle_s=0.5)
        idle = asyncio.ensure_future(server.end_when_idle())
        try:
            async with Client(server.server) as client:
                answer = await client.call_tool("start", given)
                assert not answer.is_error
                await asyncio.to_thread(wait_for_file, tmp_path / "ended")
                answer = await client.call_tool("wait", {"until": "end"})
                (content,) = answer.content
                assert content.type == "text"
                return content.text
        finally:
            idle.cancel()
            await server.close()

    assert asyncio.run(talk()).startswith("train.py has ended with exit code 0")


def test_messages_that_are_malformed_lose_nothing(agent: Callable[..., McpClient]) -> None:
    client = agent()
    assert client.process.stdin is not None
    client.process.stdin.write(b"nonsense\n[]\n{}\n" + b"\xff\xfe\n" + b"[" * 100_000 + b"\n")
    client.send("tools/call", {"name": 7, "arguments": "x"})
    assert "cannot be reached" in client.refused("go", action="next")
    assert len(client.result(client.send("tools/list", {}))["tools"]) == 10


def test_without_the_sdk_one_sentence_says_how_to_install_it(tmp_path: Path) -> None:
    (tmp_path / "mcp").mkdir()
    (tmp_path / "mcp" / "__init__.py").write_text("raise ModuleNotFoundError('no', name='mcp')")
    environment = clean_environment({"PYTHONPATH": str(tmp_path)})
    command = [sys.executable, "-m", "raydap", "mcp"]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr == "raydap mcp needs the package mcp: python -m pip install 'raydap[mcp]'\n"
