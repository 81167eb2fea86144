"""`raydap lsp` with pygls' own client, on standard input and output and on TCP."""

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable
from contextlib import ExitStack

import pytest
from lsprotocol import types
from pygls.lsp.client import LanguageClient

URI = "file:///work/train.py"
TEXT = "import ray\nimport pdb\n\n@ray.remote\ndef train():\n    pdb.set_trace()\n"
COMMAND = [sys.executable, "-m", "raydap", "lsp"]


class Client(LanguageClient):
    """A client that queues the diagnostics that it receives."""

    def __init__(self) -> None:
        super().__init__("test", "1")
        self.published: asyncio.Queue[types.PublishDiagnosticsParams] = asyncio.Queue()
        self.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda params: self.published.put_nowait(params))

    async def hang_up(self) -> None:
        """Send `exit` and wait until the server closes the connection."""
        self.exit(None)
        await self.stop()  # type: ignore[no-untyped-call]

    async def work(self) -> None:
        """Open a file with a finding, and fix it with the server's code action."""
        general = types.GeneralClientCapabilities(position_encodings=["utf-8", "utf-16"])
        answer = await self.initialize_async(types.InitializeParams(types.ClientCapabilities(general=general)))
        assert answer.server_info is not None
        assert answer.server_info.name == "raydap"
        self.initialized(types.InitializedParams())
        item = types.TextDocumentItem(URI, "python", 1, TEXT)
        self.text_document_did_open(types.DidOpenTextDocumentParams(item))
        published = await self.published.get()
        (diagnostic,) = published.diagnostics
        assert (diagnostic.code, diagnostic.range.start.line) == ("pdb-in-worker", 5)
        actions = await self.text_document_code_action_async(
            types.CodeActionParams(
                types.TextDocumentIdentifier(URI), diagnostic.range, types.CodeActionContext(published.diagnostics)
            )
        )
        assert actions is not None
        action = actions[0]
        assert isinstance(action, types.CodeAction)
        assert action.title == "Use breakpoint()"
        change = types.TextDocumentContentChangeWholeDocument(TEXT.replace("pdb.set_trace()", "breakpoint()"))
        version = types.VersionedTextDocumentIdentifier(2, URI)
        self.text_document_did_change(types.DidChangeTextDocumentParams(version, [change]))
        assert not (await self.published.get()).diagnostics


def run(test: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        await asyncio.wait_for(test(), 60)

    asyncio.run(bounded())


def test_standard_input_and_output() -> None:
    async def test() -> None:
        client = Client()
        await client.start_io(*COMMAND)
        try:
            await client.work()
            await client.shutdown_async(None)
        finally:
            await client.hang_up()

    run(test)


@pytest.fixture
def address(children: ExitStack) -> tuple[str, int]:
    command = [*COMMAND, "--listen", "127.0.0.1:0"]
    server = children.enter_context(subprocess.Popen(command, stderr=subprocess.PIPE, text=True))
    children.callback(server.terminate)
    assert server.stderr is not None
    line = server.stderr.readline()
    assert line.startswith("raydap listening on 127.0.0.1:"), line
    host, _, port = line.split()[-1].rpartition(":")
    return host, int(port)


def test_clients_on_tcp_come_and_go(address: tuple[str, int]) -> None:
    async def test() -> None:
        first, second = Client(), Client()
        await first.start_tcp(*address)
        await second.start_tcp(*address)
        await first.work()
        await first.shutdown_async(None)
        await first.hang_up()
        await second.work()
        await second.hang_up()

    run(test)


def test_garbage_on_tcp_harms_no_other_client(address: tuple[str, int]) -> None:
    async def test() -> None:
        client = Client()
        await client.start_tcp(*address)
        reader, writer = await asyncio.open_connection(*address)
        writer.write(b"GET / HTTP/1.1\r\n\r\nContent-Length: 1\r\n\r\n{" + b"\0" * 100_000)
        assert b"-32700" in await reader.readuntil(b"}}")
        writer.close()
        await client.work()
        await client.hang_up()

    run(test)


def test_a_client_that_dies_ends_its_server() -> None:
    with subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdin is not None
        server.stdin.close()
        assert server.wait(30) == 0


def test_ray_is_not_imported() -> None:
    """Importing Ray would take a second and 100 MB."""
    code = "import sys, raydap.cli.lsp; print(sorted({'ray', 'aiohttp', 'debugpy', 'rich'} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
