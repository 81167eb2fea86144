"""A client of `raydap mcp` whose messages a test chooses one by one."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from local_cluster import clean_environment

PATIENCE_S = 60


class McpClient:
    """The process `raydap mcp`, after the handshake. Its log goes to `folder`, which is its working folder, too."""

    def __init__(self, folder: Path, *options: str, env: Mapping[str, str] | None = None) -> None:
        self._log = (folder / "mcp.log").open("wb")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "raydap", "mcp", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env=clean_environment({"XDG_RUNTIME_DIR": str(folder), **(env or {})}),
            cwd=folder,
        )
        self._answers: dict[int, dict[str, Any]] = {}
        self._count = 0
        client = {"name": "test", "version": "1"}
        begin = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
        self.server = self.result(self.send("initialize", begin))
        self.notify("notifications/initialized", {})

    def __enter__(self) -> "McpClient":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.close_input()
            try:
                self.process.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
                raise
        for stream in (self.process.stdin, self.process.stdout, self._log):
            assert stream is not None
            stream.close()

    def send(self, method: str, params: Mapping[str, Any]) -> int:
        """Send a request, and return its id."""
        self._count += 1
        self._write({"jsonrpc": "2.0", "id": self._count, "method": method, "params": params})
        return self._count

    def notify(self, method: str, params: Mapping[str, Any]) -> None:
        """Send a notification."""
        self._write({"jsonrpc": "2.0", "method": method, "params": params})

    def begin(self, tool: str, **arguments: Any) -> int:
        """Begin a call of a tool, and return the id of its request."""
        return self.send("tools/call", {"name": tool, "arguments": arguments})

    def call(self, tool: str, **arguments: Any) -> str:
        """Call a tool, and return the text of its answer, which must not be an error."""
        text, is_error = self.answer(self.begin(tool, **arguments))
        assert not is_error, text
        return text

    def refused(self, tool: str, **arguments: Any) -> str:
        """Call a tool, and return the text of its answer, which must be an error."""
        text, is_error = self.answer(self.begin(tool, **arguments))
        assert is_error, text
        return text

    def answer(self, number: int) -> tuple[str, bool]:
        """Return the text of the answer to a call, and whether it is an error."""
        result = self.result(number)
        (content,) = result["content"]
        assert "structuredContent" not in result
        return content["text"], result.get("isError", False)

    def result(self, number: int) -> Any:
        """Return the result of a request. Answers to other requests are kept."""
        while number not in self._answers:
            assert self.process.stdout is not None
            line = self.process.stdout.readline()
            assert line, f"raydap mcp has ended: {Path(self._log.name).read_text()}"
            message = json.loads(line)
            if "id" in message:
                self._answers[message["id"]] = message
        message = self._answers.pop(number)
        assert "result" in message, message
        return message["result"]

    def close_input(self) -> None:
        """End the server's standard input."""
        assert self.process.stdin is not None
        self.process.stdin.close()

    def _write(self, message: Mapping[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()
