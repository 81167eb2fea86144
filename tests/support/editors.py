"""Existing DAP clients that all play the same scenarios against the bridge.

A scenario is a list of steps: dictionaries whose `do` names a method of Script in editors_script.py. player.js and
player.el in tests/editors implement the same steps. They read a JSON file with these keys:

    steps       the scenario
    port        the port of the bridge on 127.0.0.1, or
    command     the bridge as a command of two words that uses stdio
    transcript  the file to which they append a line {"from": "client" or "adapter", "message": ...} for each message
"""

import json
import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from local_cluster import Child

from support.conformance import validate
from support.editors_script import RecordingClient, Script

HERE = Path(__file__).parents[1] / "editors"
PACKAGES = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "raydap" / "editors"
"""The folder into which `make editors` installs npm's packages."""

Step = Mapping[str, Any]
Message = dict[str, Any]


class NotInstalled(Exception):
    """A client is not installed here. The text names what to install."""


@dataclass(frozen=True)
class Transcript:
    """The messages of one connection, in the order in which the client sent and received them."""

    lines: list[tuple[str, Message]]

    def __post_init__(self) -> None:
        """Check that every message of the adapter conforms to the DAP schema."""
        commands = {message["seq"]: message["command"] for message in self.sent}
        for message in self.received:
            validate(message, commands[message["request_seq"]] if message["type"] == "response" else None)

    @property
    def sent(self) -> list[Message]:
        return [message for who, message in self.lines if who == "client" and message["type"] == "request"]

    @property
    def received(self) -> list[Message]:
        return [message for who, message in self.lines if who == "adapter"]

    def bodies(self, event: str) -> list[Message]:
        return [message.get("body", {}) for message in self.received if message.get("event") == event]

    def commands(self) -> list[str]:
        return [message["command"] for message in self.sent]


@dataclass(frozen=True)
class Endpoint:
    """An endpoint of the bridge: a port on 127.0.0.1, or if None a command of two words that uses stdio."""

    port: int | None
    command: tuple[str, str]

    @classmethod
    def spawned(cls, directory: Path) -> "Endpoint":
        """Return an endpoint that each client starts for itself, as users do: by a program's path and "adapter"."""
        script = directory / "raydap"
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m raydap "$@"\n')
        script.chmod(0o755)
        return cls(None, (str(script), "adapter"))

    @classmethod
    def listening(cls, port: int) -> "Endpoint":
        return cls(port, ("", ""))

    def as_json(self) -> dict[str, Any]:
        return {"command": self.command} if self.port is None else {"port": self.port}


class Editor:
    """A client in a separate process."""

    name = ""

    def command(self, scenario: Path) -> list[str]:
        """Return the command that plays a scenario. Raises NotInstalled."""
        raise NotImplementedError

    def environment(self, directory: Path) -> dict[str, str]:
        return {"HOME": str(directory)}

    def play(self, steps: Sequence[Step], endpoint: Endpoint, directory: Path) -> Transcript:
        """Play all steps and return the transcript. Raises AssertionError with the step that failed."""
        transcript = directory / f"{self.name}.jsonl"
        transcript.touch()
        scenario = directory / f"{self.name}.json"
        scenario.write_text(json.dumps({"steps": steps, "transcript": str(transcript), **endpoint.as_json()}))
        self.run(self.command(scenario), directory)
        return Transcript(list(_read(transcript)))

    def run(self, command: Sequence[str], directory: Path) -> str:
        """Run a command to its end and return its output. Raises AssertionError with the output if it fails."""
        with Child(command, directory / f"{self.name}.log", self.environment(directory), cwd=directory) as child:
            code = child.wait()
            assert code == 0, f"{self.name} ended with code {code}:\n{child.output}"
            return child.output


class VsCode(Editor):
    """The client that VS Code publishes for tests of debug adapters (npm @vscode/debugadapter-testsupport)."""

    name = "vscode"

    def command(self, scenario: Path) -> list[str]:
        return [self.node(), str(HERE / "player.js"), str(scenario)]

    def node(self) -> str:
        node = shutil.which("node")
        if node is None:
            raise NotInstalled("VS Code's DAP client needs Node.js 18 or newer, and npm; then `make editors`")
        wanted, found = HERE / "package-lock.json", PACKAGES / "package-lock.json"
        if not found.exists() or found.read_bytes() != wanted.read_bytes():
            raise NotInstalled(f"VS Code's DAP client is not in {PACKAGES}: run `make editors`")
        return node

    def environment(self, directory: Path) -> dict[str, str]:
        return {"NODE_PATH": str(PACKAGES / "node_modules")}


class Emacs(Editor):
    """Emacs with dap-mode."""

    name = "emacs"

    def command(self, scenario: Path) -> list[str]:
        return self.batch("--load", str(HERE / "player.el"), "--eval", f'(play "{scenario}")')

    def batch(self, *arguments: str) -> list[str]:
        emacs = shutil.which("emacs")
        if emacs is None:
            raise NotInstalled(
                "dap-mode and eglot are tested in Emacs, which is not here: install it (Debian: apt-get install "
                "emacs-nox elpa-dap-mode elpa-eglot), or set RAYDAP_WITHOUT_EMACS=1 to leave these tests out"
            )
        return [emacs, "--batch", *arguments]


class Scripted:
    """The example client of the documentation."""

    name = "scripted"

    def play(self, steps: Sequence[Step], endpoint: Endpoint, directory: Path) -> Transcript:
        with ExitStack() as stack:
            if endpoint.port is None:
                log = stack.enter_context((directory / "bridge.log").open("wb"))
                client = RecordingClient.spawn(endpoint.command, stderr=log)
            else:
                client = RecordingClient.connect("127.0.0.1", endpoint.port)
            stack.enter_context(client)
            script = Script(client)
            for step in steps:
                arguments = {key: value for key, value in step.items() if key != "do"}
                try:
                    getattr(script, step["do"])(**arguments)
                except AssertionError as error:
                    raise AssertionError(f"{json.dumps(step)} failed: {error}") from error
            assert isinstance(client, RecordingClient)
            return Transcript(list(client.lines))


EDITORS: list[type[Editor] | type[Scripted]] = [Scripted, VsCode]
if os.environ.get("RAYDAP_WITHOUT_EMACS") != "1":
    EDITORS.append(Emacs)


def _read(transcript: Path) -> Iterator[tuple[str, Message]]:
    for line in transcript.read_text(encoding="utf-8").rstrip("\n").split("\n"):
        entry = json.loads(line)
        yield entry["from"], entry["message"]
