"""Many fake debugpy adapters in one process, and a Ray dashboard that lists them, for measurements of scale.

    python -m bench.fake_debugpy COUNT RECORDING [PROGRAM] [--node ID --session NAME]

Each adapter replays the recording of a real one (tests/golden/debugpy_session.jsonl): its first response to each
command, with the events around it. A worker that is resumed stops again at once. The process prints its addresses, and
ends with its parent's signal. `/requests` on the dashboard returns the number of requests so far. PROGRAM is a file of
at least six lines that stands for the recorded program, which is not on this machine. With a node and the session of a
real cluster, raydap reaches the workers over its relay there.
"""

import argparse
import asyncio
import json
import re
from pathlib import Path
from typing import Any

import msgspec
from aiohttp import web

from raydap.wire.framing import Decoder, encode

Message = dict[str, Any]


class Recording:
    """The messages that debugpy sends after each command.

    Messages before the response to `initialize` belong to `initialize` too.
    """

    PROGRAM = "/app/program.py"

    def __init__(self, path: Path, program: str = PROGRAM) -> None:
        self.said: dict[str, list[Message]] = {}
        early: list[Message] = []
        command = ""
        for line in path.read_text().splitlines():
            message = json.loads(line.replace(json.dumps(self.PROGRAM), json.dumps(program)))
            if message["type"] == "response":
                command = message["command"]
                if command not in self.said:
                    self.said[command], early = [*early, message], []
                    continue
                command = ""  # Another response to the same command; only the first is replayed.
            elif command:
                self.said[command].append(message)
            elif not self.said:
                early.append(message)
        # debugpy sends `initialized` at once, but the response to `attach` only after configurationDone.
        self.initialized = [message for message in self.said["initialize"] if message.get("event") == "initialized"]
        self.said["initialize"] = [message for message in self.said["initialize"] if message not in self.initialized]
        self.stop = next(message for message in self.said["attach"] if message.get("event") == "stopped")
        self.said["configurationDone"] += self.said.pop("attach")

    def resumed(self) -> list[Message]:
        return [
            {"type": "event", "event": "continued", "body": {"threadId": 1, "allThreadsContinued": False}},
            self.stop,
        ]


class FakeDebugpy(asyncio.Protocol):
    """A connection to one adapter. `paused`, shared with the dashboard, has the ports of adapters without a client."""

    def __init__(self, recording: Recording, paused: set[int]) -> None:
        self._recording = recording
        self._paused = paused
        self._port = 0
        self._decoder = Decoder()
        self._seq = 0
        self._attach = 0
        self._has_told_modules = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._port = transport.get_extra_info("sockname")[1]

    def data_received(self, data: bytes) -> None:
        out = b"".join(self._answers(msgspec.json.decode(body)) for body in self._decoder.feed(data))
        self._transport.write(out)

    def _answers(self, request: Message) -> bytes:
        command, arguments = request["command"], request.get("arguments") or {}
        if command == "attach":
            self._attach = request["seq"]
            said = self._recording.initialized
        elif command == "evaluate" and _RESUME.search(arguments.get("expression", "")):
            said = self._recording.said["evaluate"] + self._recording.resumed()
        elif command == "stackTrace":
            said = self._stack(arguments.get("startFrame") or 0)
        elif command in ("next", "stepIn", "stepOut"):
            said = [*self._recording.said["next"][:1], *self._recording.resumed()]
        else:
            said = self._recording.said.get(command) or [{"type": "response", "success": True, "command": command}]
            if command == "configurationDone":
                self._paused.discard(self._port)
            elif command == "disconnect":
                self._paused.add(self._port)
        return b"".join(self._write(message, request) for message in said)

    def _stack(self, start: int) -> list[Message]:
        """Return the rest of the recorded stack. As in debugpy, `module` events follow only the first response."""
        stack, *modules = self._recording.said["stackTrace"]
        body = {**stack["body"], "stackFrames": stack["body"]["stackFrames"][start:]}
        told, self._has_told_modules = self._has_told_modules, True
        return [{**stack, "body": body}, *([] if told else modules)]

    def _write(self, message: Message, request: Message) -> bytes:
        self._seq += 1
        asked = self._attach if message.get("command") == "attach" else request["seq"]
        answers = {"request_seq": asked} if message["type"] == "response" else {}
        return encode(msgspec.json.encode({**message, "seq": self._seq, **answers}))


# The end of the expression with which inworker/calls.py resumes one thread.
_RESUME = re.compile(r"\.threads\.resume\(\d+\)$")


class FakeDashboard:
    """A dashboard that lists the workers without a client, as Ray's state API does."""

    def __init__(self, paused: set[int], node: str, session: str) -> None:
        self._paused = paused
        self._node = node
        self._session = session
        self._requests = 0

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        if request.path == "/requests":
            return web.json_response(self._requests)
        self._requests += 1
        if request.path == "/api/jobs/":
            return web.json_response([])
        if request.path == "/api/version":
            return web.json_response({"session_name": self._session})
        rows: list[Message] = []
        if request.path.endswith("/workers"):
            rows = [self._row(port) for port in sorted(self._paused)]
        elif request.path.endswith("/nodes"):
            rows = [{"node_id": self._node, "node_ip": "127.0.0.1"}]
        return web.json_response({"result": True, "msg": "", "data": {"result": {"total": len(rows), "result": rows}}})

    def _row(self, port: int) -> Message:
        identity = {"worker_id": f"{port:056x}", "ip": "127.0.0.1", "pid": port, "node_id": self._node}
        state = {"worker_type": "WORKER", "debugger_port": port, "num_paused_threads": 1, "is_alive": True}
        return identity | state


async def main(count: int, recording: Recording, node: str, session: str) -> None:
    loop = asyncio.get_running_loop()
    paused: set[int] = set()
    servers = []
    for _ in range(count):
        server = await loop.create_server(lambda: FakeDebugpy(recording, paused), "127.0.0.1", 0, backlog=4)
        paused.add(server.sockets[0].getsockname()[1])
        servers.append(server)  # A server without a reference is closed.
    dashboard = await loop.create_server(web.Server(FakeDashboard(paused, node, session).answer), "127.0.0.1", 0)
    print(f"dashboard at http://127.0.0.1:{dashboard.sockets[0].getsockname()[1]} end", flush=True)  # noqa: T201
    await asyncio.Event().wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("count", type=int)
    parser.add_argument("recording", type=Path)
    parser.add_argument("program", nargs="?", default=Recording.PROGRAM)
    parser.add_argument("--node", default="ab" * 28)
    parser.add_argument("--session", default="")
    options = parser.parse_args()
    asyncio.run(main(options.count, Recording(options.recording, options.program), options.node, options.session))
