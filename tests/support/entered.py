"""A debuggee that raydap's own expressions are evaluated in: real debugpy, without a bridge in between."""

from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dap_client import Client, RequestFailed

from raydap.inworker import calls


@dataclass(frozen=True)
class EnteredWorker:
    """One connection to the debugpy of a program, made as the core makes it."""

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
        """Evaluates `enter` before the program may run; `arguments` go to debugpy's `attach`."""
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
        """The result of an expression; for what needs no result it is empty."""
        result: str = self.client.request("evaluate", expression=expression, context="clipboard")["result"]
        return result

    def query(self, expression: str) -> Any:
        """What one of the calls about files gives; raises calls.ResultError."""
        answer = self.client.send("evaluate", expression=expression, context="clipboard")
        try:
            return calls.read_result(self.client.result(answer)["result"])
        except RequestFailed as failed:
            return calls.read_result(failed.text)

    def stop(self) -> tuple[str, str, int]:
        """Waits for the next stop: its reason, the line of the innermost frame, the thread."""
        body = self.client.wait_event("stopped")
        frame = self.frames(body["threadId"])[0]
        line = Path(frame["source"]["path"]).read_text().splitlines()[frame["line"] - 1]
        return body["reason"], line.strip(), body["threadId"]

    def frames(self, thread: int) -> list[dict[str, Any]]:
        """The thread's stack, innermost frame first."""
        stack: list[dict[str, Any]] = self.client.request("stackTrace", threadId=thread)["stackFrames"]
        return stack

    def leave(self, tune: bool = True) -> None:
        assert self.call(calls.leave(tune)) == ""
        self.client.request("disconnect")
        self.client.close()
