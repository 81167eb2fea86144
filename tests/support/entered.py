"""A debuggee in which raydap's own expressions are evaluated: real debugpy, without a bridge in between."""

from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dap_client import Client, RequestFailed

from raydap.inworker import calls


@dataclass(frozen=True)
class EnteredWorker:
    """A connection to the debugpy of a program, opened as the core opens it."""

    client: Client
    path: Path
    """The program's file."""

    @classmethod
    def attach(
        cls,
        host: str,
        port: int,
        path: Path,
        children: ExitStack,
        *,
        tune: bool = True,
        filters: Iterable[str] = (),
        **arguments: object,
    ) -> "EnteredWorker":
        """Attach, and evaluate `enter` before the program may run. `arguments` go to debugpy's `attach`."""
        worker = cls(children.enter_context(Client.connect(host, port)), path)
        client = worker.client
        client.request("initialize", adapterID="raydap", clientID="raydap", pathFormat="path")
        attached = client.send("attach", **{"justMyCode": False, **arguments})
        client.wait_event("initialized", unless=attached)
        assert worker.call(calls.enter(tune)) == ""
        client.request("setExceptionBreakpoints", filters=list(filters))
        client.request("configurationDone")
        client.result(attached, "attach")
        return worker

    def call(self, expression: str) -> str:
        """Return the result of an expression. It is empty for expressions that need none."""
        result: str = self.client.request("evaluate", expression=expression, context="clipboard")["result"]
        return result

    def query(self, expression: str) -> Any:
        """Return the result of one of the calls about files. Raises calls.ResultError."""
        answer = self.client.send("evaluate", expression=expression, context="clipboard")
        try:
            return calls.read_result(self.client.result(answer)["result"])
        except RequestFailed as failed:
            return calls.read_result(failed.text)

    def stop(self) -> tuple[str, str, int]:
        """Wait for the next stop; return its reason, the source line of the innermost frame and the thread."""
        body = self.client.wait_event("stopped")
        frame = self.frames(body["threadId"])[0]
        line = Path(frame["source"]["path"]).read_text().splitlines()[frame["line"] - 1]
        return body["reason"], line.strip(), body["threadId"]

    def frames(self, thread: int) -> list[dict[str, Any]]:
        """Return the thread's stack, innermost frame first."""
        stack: list[dict[str, Any]] = self.client.request("stackTrace", threadId=thread)["stackFrames"]
        return stack

    def leave(self, tune: bool = True) -> None:
        assert self.call(calls.leave(tune)) == ""
        self.client.request("disconnect")
        self.client.close()
