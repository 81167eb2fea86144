"""The language server: its start, its memory, and the time from a key to the diagnostics of a long file."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import IO, Any

from bench.report import Row

URI = "file:///work/train.py"

ACTOR = '''
@ray.remote(num_cpus=1)
class Trainer{number}:
    """Trains a part of the model."""

    def __init__(self, rank, world, config):
        self.rank, self.world = rank, world
        self.config = dict(config, seed=rank * 7 + {number})
        self.losses = [float(step) for step in range(10) if step % 2 == 0]

    def step(self, batch):
        total = sum(value * weight for value, weight in zip(batch["x"], batch["w"]))
        if total > self.config.get("limit", 100) and self.rank == 0:
            self.losses.append(total / max(1, len(batch["x"])))
        try:
            result = self.scaled(total, scale=self.config["scale"])
        except KeyError as error:
            print(f"rank {{self.rank}}: {{error!r}}")
            raise
        return {{"loss": result, "rank": self.rank, "step": len(self.losses)}}

    def scaled(self, total, scale=1.0):
        return [total * scale + offset for offset in range(3)][-1]
'''
"""24 lines. A file of 2,000 lines has 80 variants of them."""

TEXT = "import pdb\nimport ray\n" + "".join(ACTOR.format(number=number) for number in range(83))
TEXT += "\n@ray.remote\ndef train():\n    pdb.set_trace()\n"


class Server:
    """A `raydap lsp` without a client library, whose own time would count."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "raydap", "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._input: IO[bytes] = self._process.stdin
        self._output: IO[bytes] = self._process.stdout
        self._version = 0
        self._send(id=1, method="initialize", params={"capabilities": {}})
        self._receive()
        self._send(method="initialized", params={})

    def open(self, text: str) -> None:
        document = {"uri": URI, "languageId": "python", "version": 0, "text": text}
        self._send(method="textDocument/didOpen", params={"textDocument": document})
        self._receive()

    def change(self, text: str) -> None:
        """Change the text and wait for its diagnostics."""
        self._version += 1
        document = {"uri": URI, "version": self._version}
        self._send(
            method="textDocument/didChange", params={"textDocument": document, "contentChanges": [{"text": text}]}
        )
        published = self._receive()["params"]
        assert (published["version"], len(published["diagnostics"])) == (self._version, 1), published

    def megabytes(self) -> float:
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        (line,) = [line for line in status.splitlines() if line.startswith("VmHWM:")]
        return int(line.split()[1]) / 1024

    def end(self) -> None:
        self._input.close()
        self._process.wait()
        self._output.close()

    def _send(self, **message: Any) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._input.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self._input.flush()

    def _receive(self) -> Any:
        length = int(self._output.readline().split(b":")[1])
        assert self._output.readline() == b"\r\n"
        return json.loads(self._output.read(length))


def measure(_: Path, quick: bool) -> Iterator[Row]:
    count = 5 if quick else 30
    starts = []
    for _number in range(count // 3):
        server, took_ms = timed(Server)
        starts.append(took_ms)
        server.end()
    yield Row("language server: start", "ms", starts, target="< 500 ms", allowed=500)
    server = Server()
    try:
        server.open(TEXT)
        yield Row("language server: a key in a function", "ms", keys(server, count, in_function), [], "< 50 ms", 50)
        yield Row("language server: a line at the top", "ms", keys(server, count, at_top), [], "< 50 ms", 50)
        yield Row("language server: memory", "MB", [server.megabytes()], target="< 60 MB", allowed=60)
    finally:
        server.end()


def keys(server: Server, count: int, text_after: Callable[[int], str]) -> list[float]:
    texts = [text_after(number) for number in range(count)]
    return [timed(partial(server.change, text))[1] for text in texts]


def in_function(number: int) -> str:
    """Return the text with a different line in the middle for each number."""
    head, line, rest = TEXT.partition("class Trainer40:")
    return head + line + rest.replace("range(3)", f"range(3 + {number})", 1)


def at_top(number: int) -> str:
    return "#\n" * (number + 1) + TEXT


def timed(action: Callable[[], Any]) -> tuple[Any, float]:
    """Return the result and the milliseconds that it took."""
    started = time.perf_counter()
    result = action()
    return result, (time.perf_counter() - started) * 1000
