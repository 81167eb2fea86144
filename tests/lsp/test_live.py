"""Workers of a real session are shown in the source, for an editor's session and for a hub's."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest
from dap_client import Client as DapClient

from support.bridge import Hub
from support.debuggee import Debuggee
from support.lens_client import LensClient
from support.look import go_on

PROGRAM = """\
import ray

@ray.remote
def work(turn):
    breakpoint()
    return turn

for turn in range(2):
    work._function(turn)
"""


@pytest.fixture
def debuggee(plain_debugpy: Callable[[str], Debuggee]) -> Debuggee:
    return plain_debugpy(PROGRAM)


@pytest.fixture
def adapter(children: ExitStack, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> DapClient:
    """Return a client of `raydap adapter` on standard input and output."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    return children.enter_context(DapClient.spawn([sys.executable, "-m", "raydap", "adapter"]))


@pytest.mark.parametrize(("first", "end"), [("adapter", "disconnect"), ("server", "disconnect"), ("server", "kill")])
def test_the_session_of_an_editor(adapter: DapClient, debuggee: Debuggee, tmp_path: Path, first: str, end: str) -> None:
    """The lenses appear and disappear, whether the session or the server begins first."""
    attach = {"workers": [f"{debuggee.host}:{debuggee.port}"]}

    async def test() -> None:
        client = LensClient(debuggee.path)
        await client.start()
        try:
            if first == "server":
                await client.open()
            await asyncio.to_thread(adapter.start_session, "attach", attach)
            stop = await asyncio.to_thread(adapter.wait_event, "stopped")
            if first == "adapter":
                await client.open()
            await client.wait_lenses({3: "1 stopped here", 5: "1 stopped here"})
            await asyncio.to_thread(go_on, adapter, stop)
            await asyncio.to_thread(adapter.wait_event, "stopped")
            await client.wait_lenses({3: "1 stopped here", 5: "1 stopped here"})
            if end == "kill":
                (name,) = os.listdir(tmp_path / "raydap")
                os.kill(int(name.removeprefix("session-").removesuffix(".sock")), signal.SIGKILL)
            else:
                await asyncio.to_thread(adapter.request, "disconnect")
            await client.wait_lenses({})
        finally:
            await client.hang_up()

    asyncio.run(asyncio.wait_for(test(), 90))
    assert debuggee.child.wait() == 0
    adapter.close()


def test_a_hub(children: ExitStack, debuggee: Debuggee, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server stays connected to an idle hub, which does not begin to search for workers because of that."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    hub = Hub.start(tmp_path / "hub.log", "--hold", "no")
    children.callback(hub.end)
    # The server finds hubs by their files in the runtime folder.
    (tmp_path / "raydap").mkdir(mode=0o700, exist_ok=True)
    hub.connection.rename(tmp_path / "raydap" / "hub.json")
    attach = {"token": hub.token, "workers": [f"{debuggee.host}:{debuggee.port}"]}

    async def test() -> None:
        client = LensClient(debuggee.path)
        await client.start()
        try:
            await client.open()
            with DapClient.connect(hub.host, hub.port) as editor:
                await asyncio.to_thread(editor.start_session, "attach", attach)
                await asyncio.to_thread(editor.wait_event, "stopped")
                await client.wait_lenses({3: "1 stopped here", 5: "1 stopped here"})
                await asyncio.to_thread(editor.request, "disconnect")
            await client.wait_lenses({})
        finally:
            await client.hang_up()

    asyncio.run(asyncio.wait_for(test(), 90))
    assert debuggee.child.wait() == 0


VALUES = """\
import ray

def measure(loss, mode):
    step = 3
    breakpoint()
    return loss + step

for loss in (0.5, float("nan")):
    measure(loss, "train")
"""


@pytest.mark.parametrize("inline", [True, False])
def test_the_values_at_a_stop(adapter: DapClient, plain_debugpy: Callable[[str], Debuggee], inline: bool) -> None:
    """Values are shown in the function up to the stopped line, and again at the next stop."""
    debuggee = plain_debugpy(VALUES)
    attach = {"workers": [f"{debuggee.host}:{debuggee.port}"]}

    async def test() -> None:
        client = LensClient(debuggee.path, inline)
        await client.start()
        try:
            await client.open()
            await asyncio.to_thread(adapter.start_session, "attach", attach)
            stop = await asyncio.to_thread(adapter.wait_event, "stopped")
            for loss in ("0.5", "nan"):
                texts = {3: [f"loss = {loss}", "mode = 'train'"], 4: ["step = 3"], 6: [f"loss = {loss}", "step = 3"]}
                await client.wait_values(
                    6, texts if inline else {line: [", ".join(text)] for line, text in texts.items()}
                )
                await asyncio.to_thread(go_on, adapter, stop)
                if loss == "0.5":
                    stop = await asyncio.to_thread(adapter.wait_event, "stopped")
            await client.wait_values(6, {})
        finally:
            await client.hang_up()

    asyncio.run(asyncio.wait_for(test(), 90))
    assert debuggee.child.wait() == 0
    adapter.close()
