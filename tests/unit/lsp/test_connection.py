"""The messages of one client, malformed or not, and the answers to them."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raydap.lsp.connection import Connection
from raydap.lsp.tolerant_framing import TolerantDecoder
from raydap.transport.peer import Peer
from raydap.wire.framing import encode
from support.examples import examples
from support.garbage import GARBAGE

URI = "file:///work/train.py"
BAD = "import ray\nray.init(local_mode=True)\n"


class RecordingPeer(Peer):
    """A peer that keeps the sent messages."""

    def __init__(self) -> None:
        super().__init__(lambda _: None, lambda _: None)
        self.sent: list[Any] = []
        self.came = asyncio.Event()

    def send(self, body: bytes) -> None:
        self.sent.append(json.loads(body))
        self.came.set()

    def close(self) -> None:
        pass


class Client:
    """Feeds bytes into a connection as its transport would."""

    def __init__(self, initialize: bool = True) -> None:
        self.peer = RecordingPeer()
        self._on_message: Callable[[bytes], None] = lambda _: None
        self.connection = Connection(self._connect)
        self._seq = 0
        if initialize:
            encodings = {"general": {"positionEncodings": ["utf-16"]}}
            assert "capabilities" in self.request("initialize", capabilities=encodings)["result"]
            self.notify("initialized")

    def _connect(self, on_message: Callable[[bytes], None], _: Callable[[str], None], decoder: TolerantDecoder) -> Peer:
        self._on_message = on_message
        self._decoder = decoder
        return self.peer

    def feed(self, data: bytes) -> list[Any]:
        """Feed these bytes, and return the messages that are sent at once."""
        count = len(self.peer.sent)
        for body in self._decoder.feed(data):
            self._on_message(body)
        return self.peer.sent[count:]

    def send(self, message: object) -> list[Any]:
        return self.feed(encode(json.dumps(message).encode()))

    def request(self, method: str, **params: object) -> Any:
        self._seq += 1
        answers = self.send({"jsonrpc": "2.0", "id": self._seq, "method": method, "params": params})
        (answer,) = [one for one in answers if one.get("id") == self._seq]
        return answer

    def notify(self, method: str, **params: object) -> list[Any]:
        return self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def open(self, text: str, uri: str = URI, language: str = "python") -> list[Any]:
        document = {"uri": uri, "languageId": language, "version": 1, "text": text}
        return self.notify("textDocument/didOpen", textDocument=document)

    def change(self, text: str, version: int = 2, uri: str = URI) -> list[Any]:
        document = {"uri": uri, "version": version}
        return self.notify("textDocument/didChange", textDocument=document, contentChanges=[{"text": text}])

    def actions(self, line: int, uri: str = URI) -> list[Any]:
        """Return the code actions with the cursor at the beginning of a line."""
        place = {"start": {"line": line, "character": 0}, "end": {"line": line, "character": 0}}
        answer = self.request(
            "textDocument/codeAction", textDocument={"uri": uri}, range=place, context={"diagnostics": []}
        )
        found = answer["result"]
        assert isinstance(found, list)
        return found


def codes(messages: list[Any]) -> list[list[str]]:
    """Return the codes of each publication of diagnostics."""
    published = [one for one in messages if one.get("method") == "textDocument/publishDiagnostics"]
    return [[diagnostic["code"] for diagnostic in one["params"]["diagnostics"]] for one in published]


def run(test: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        await asyncio.wait_for(test(), 60)

    asyncio.run(bounded())


def test_findings_come_and_go() -> None:
    async def test() -> None:
        client = Client()
        assert codes(client.open(BAD)) == [["local-mode"]]
        client.change("import ray\n")
        await until(client, lambda: codes(client.peer.sent)[-1] == [])
        client.change(BAD, 3)
        await until(client, lambda: codes(client.peer.sent)[-1] == ["local-mode"])
        assert codes(client.notify("textDocument/didClose", textDocument={"uri": URI})) == [[]]

    run(test)


async def until(client: Client, condition: Callable[[], bool]) -> None:
    """Wait until the sent messages meet the condition. `run` limits the time."""
    while not condition():
        client.peer.came.clear()
        await client.peer.came.wait()


def test_changes_that_come_together_are_examined_once() -> None:
    async def test() -> None:
        client = Client()
        client.open("import ray\n")
        count = len(client.peer.sent)
        for version in range(2, 10):
            client.change(BAD + "#" * version, version)
        await until(client, lambda: len(client.peer.sent) > count)
        (message,) = client.peer.sent[count:]
        assert message["params"]["version"] == 9

    run(test)


def test_the_last_findings_stay_while_there_is_a_syntax_error() -> None:
    async def test() -> None:
        client = Client()
        client.open(BAD)
        count = len(client.peer.sent)
        client.change(BAD + "def (\n")
        assert client.actions(1) == []
        assert codes(client.peer.sent[count:]) == []
        client.change(BAD, 3)
        assert client.actions(1) != []

    run(test)


def test_a_fix_and_a_comment_are_offered() -> None:
    async def test() -> None:
        client = Client()
        client.open("import ray\nä = '😀'; ray.init(local_mode=True)\n")
        fix, comment = client.actions(1)
        assert fix["title"] == "Remove local_mode"
        assert fix["isPreferred"]
        (edit,) = fix["edit"]["changes"][URI]
        # The smiley is two code units of UTF-16.
        assert (edit["range"]["start"], edit["newText"]) == ({"line": 1, "character": 19}, "")
        (edit,) = comment["edit"]["changes"][URI]
        assert edit["newText"] == "  # raydap: ignore[local-mode]"
        assert client.actions(0) == []

    run(test)


def test_no_comment_is_offered_where_it_would_be_text() -> None:
    async def test() -> None:
        client = Client()
        client.open("import ray\nray.init(local_mode=True), '''\n'''\n")
        assert [action["title"] for action in client.actions(1)] == ["Remove local_mode"]

    run(test)


def test_a_diagnostic_leads_to_its_page() -> None:
    async def test() -> None:
        client = Client()
        (message,) = client.open(BAD)
        (diagnostic,) = message["params"]["diagnostics"]
        assert diagnostic["codeDescription"]["href"].endswith("/raydap/lsp/pages/local-mode.md")
        assert (diagnostic["severity"], diagnostic["source"]) == (2, "raydap")

    run(test)


def test_rules_are_switched_off() -> None:
    async def test() -> None:
        client = Client(initialize=False)
        client.request("initialize", capabilities={}, initializationOptions={"ignore": ["local-mode"]})
        assert codes(client.open(BAD)) == [[]]
        sent = client.notify(
            "workspace/didChangeConfiguration", settings={"raydap": {"languageServer": {"ignore": []}}}
        )
        assert codes(sent) == [["local-mode"]]

    run(test)


def test_live_is_true_or_false() -> None:
    async def test() -> None:
        client = Client()
        settings: dict[str, Any] = {"raydap": {"languageServer": {"live": "yes"}}}
        (message,) = client.notify("workspace/didChangeConfiguration", settings=settings)
        assert "`live`" in message["params"]["message"]
        for live in (True, False, True):
            settings = {"raydap": {"languageServer": {"live": live}}}
            sent = client.notify("workspace/didChangeConfiguration", settings=settings)
            assert [one for one in sent if one.get("method") == "window/showMessage"] == []
            assert codes(client.open(BAD)) == [["local-mode"]]

    run(test)


@pytest.mark.parametrize("setting", ["ignore", "commands"])
@pytest.mark.parametrize("value", ["local-mode", ["no-such"], [1], [[]], {"a": 1}])
def test_a_wrong_setting_is_reported_and_harms_nothing(setting: str, value: object) -> None:
    async def test() -> None:
        client = Client()
        sent = client.notify(
            "workspace/didChangeConfiguration", settings={"raydap": {"languageServer": {setting: value}}}
        )
        (message,) = [one for one in sent if one.get("method") == "window/showMessage"]
        assert message["params"]["type"] == 2
        assert "raydap's language server" in message["params"]["message"]
        assert codes(client.open(BAD)) == [["local-mode"]]

    run(test)


@pytest.mark.parametrize(("uri", "language"), [("file:///a/.vscode/launch.json", "jsonc"), ("untitled:x", "python")])
def test_what_is_looked_at(uri: str, language: str) -> None:
    async def test() -> None:
        text = '{"env": {"RAY_DEBUG": "legacy"}}' if language == "jsonc" else BAD
        assert codes(Client().open(text, uri, language)) == [
            ["ray-debug-legacy" if language == "jsonc" else "local-mode"]
        ]

    run(test)


def test_other_files_are_left_alone() -> None:
    async def test() -> None:
        client = Client()
        assert client.open(BAD, "file:///a/b.json", "json") == []
        assert client.change(BAD, uri="file:///a/b.json") == []
        assert client.actions(0, "file:///a/b.json") == []

    run(test)


MALFORMED: dict[str, tuple[object, int | None]] = {
    "no object": ([], -32600),
    "a number": (7, -32600),
    "no version": ({"id": 5, "method": "shutdown"}, -32600),
    "no method": ({"jsonrpc": "2.0", "id": 5}, -32600),
    "a strange method": ({"jsonrpc": "2.0", "id": 5, "method": 7}, -32600),
    "a strange id": ({"jsonrpc": "2.0", "id": {}, "method": "shutdown"}, -32600),
    "no id": ({"jsonrpc": "2.0", "id": None, "method": "shutdown"}, -32600),
    "an unknown request": ({"jsonrpc": "2.0", "id": 5, "method": "no/such", "params": {}}, -32601),
    "wrong parameters": ({"jsonrpc": "2.0", "id": 5, "method": "textDocument/codeAction", "params": {}}, -32602),
    "parameters that are a list": (
        {"jsonrpc": "2.0", "id": 5, "method": "textDocument/codeAction", "params": [1]},
        -32602,
    ),
    "a second initialize": (
        {"jsonrpc": "2.0", "id": 5, "method": "initialize", "params": {"capabilities": {}}},
        -32600,
    ),
    "an unknown command": (
        {"jsonrpc": "2.0", "id": 5, "method": "workspace/executeCommand", "params": {"command": "x"}},
        -32602,
    ),
    "an unknown notification": ({"jsonrpc": "2.0", "method": "no/such", "params": {}}, None),
    "a wrong notification": ({"jsonrpc": "2.0", "method": "textDocument/didChange", "params": {"x": 1}}, None),
    "an unasked answer": ({"jsonrpc": "2.0", "id": 77, "result": {}}, None),
    "a change of what is not open": (
        {
            "jsonrpc": "2.0",
            "method": "textDocument/didChange",
            "params": {"textDocument": {"uri": "file:///x.py", "version": 1}, "contentChanges": [{"text": ""}]},
        },
        None,
    ),
}


@pytest.mark.parametrize(("message", "code"), MALFORMED.values(), ids=MALFORMED.keys())
def test_a_malformed_message_is_answered_and_harms_nothing(message: object, code: int | None) -> None:
    async def test() -> None:
        client = Client()
        answers = [one for one in client.send(message) if "error" in one]
        assert [one["error"]["code"] for one in answers] == ([] if code is None else [code])
        assert codes(client.open(BAD)) == [["local-mode"]]

    run(test)


def test_the_first_request_is_initialize() -> None:
    async def test() -> None:
        client = Client(initialize=False)
        assert client.request("textDocument/codeAction")["error"]["code"] == -32002
        assert client.open(BAD) == []
        assert "result" in client.request("initialize", capabilities={})

    run(test)


def test_no_json_is_answered() -> None:
    async def test() -> None:
        client = Client()
        for body in (b"", b"{", b"\xff\xfe", b"[" * 100_000):
            (answer,) = client.feed(encode(body))
            assert answer["error"]["code"] == -32700
        assert codes(client.open(BAD)) == [["local-mode"]]

    run(test)


@pytest.mark.parametrize("garbage", GARBAGE)
def test_bytes_that_are_no_message_are_answered_and_skipped(garbage: bytes) -> None:
    async def test() -> None:
        client = Client()
        answers = client.feed(garbage)
        assert {one["error"]["code"] for one in answers} <= {-32700}
        opening = encode(
            json.dumps(
                {
                    "jsonrpc": "2.0",
                    "method": "textDocument/didOpen",
                    "params": {"textDocument": {"uri": URI, "languageId": "python", "version": 1, "text": BAD}},
                }
            ).encode()
        )
        later = client.feed(b"\r\n" + opening)
        assert any("error" in one for one in [*answers, *later])
        assert ["local-mode"] in codes(later)

    run(test)


def requests() -> Iterator[str]:
    yield from ("textDocument/codeAction", "textDocument/didOpen", "textDocument/didChange", "textDocument/didClose")
    yield from ("initialize", "workspace/didChangeConfiguration", "shutdown", "$/cancelRequest", "$/setTrace")


@examples(150)
@given(
    st.sampled_from(sorted(requests())),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["textDocument", "uri", "range", "start", "line", "text", "settings", "id", "contentChanges"]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    ),
)
def test_any_parameters_are_answered_once(method: str, params: object) -> None:
    async def test() -> None:
        client = Client()
        answers = client.send({"jsonrpc": "2.0", "id": "x", "method": method, "params": params})
        assert len([one for one in answers if one.get("id") == "x" and ("error" in one or "result" in one)]) == 1
        client.send({"jsonrpc": "2.0", "method": method, "params": params})
        if method != "shutdown":
            assert "error" not in client.request("shutdown")

    run(test)


def test_exit_ends_the_connection_with_the_code_of_lsp() -> None:
    async def test() -> None:
        client = Client()
        client.send({"jsonrpc": "2.0", "method": "exit"})
        assert client.connection.ended.result() == 1
        client = Client()
        client.send({"jsonrpc": "2.0", "id": 3, "method": "shutdown"})
        client.send({"jsonrpc": "2.0", "method": "exit"})
        assert client.connection.ended.result() == 0

    run(test)
