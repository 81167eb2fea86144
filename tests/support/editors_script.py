"""The steps of a scenario (support/editors.py), performed with the example client of the documentation."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from dap_client import Client, RequestFailed

from support.look import frames, variables

Message = dict[str, Any]


class RecordingClient(Client):
    def __init__(self, *arguments: Any, **more: Any) -> None:
        self.lines: list[tuple[str, Message]] = []
        super().__init__(*arguments, **more)

    def _write(self, message: Message) -> None:
        self.lines.append(("client", message))
        super()._write(message)

    def _take_in(self, message: Message) -> None:
        self.lines.append(("adapter", message))
        super()._take_in(message)


class Script:
    """The steps of a scenario.

    `stop` selects the thread of the next stop, and the steps after it refer to this thread. `stack` has the names of
    the innermost frames; `path` and `line` are those of the first one.
    """

    def __init__(self, client: Client) -> None:
        self.client = client
        self.thread = self.previous = 0
        self.frames: list[Message] = []
        self.lines: dict[str, list[int]] = {}
        self.answers: list[Message] = []

    def start(
        self,
        request: str,
        arguments: Mapping[str, Any],
        breakpoints: Mapping[str, Sequence[int]] | None = None,
        filters: Sequence[str] = ("uncaught",),
    ) -> None:
        """Start a session with the client's own sequence of requests."""
        self.lines = {path: list(lines) for path, lines in (breakpoints or {}).items()}
        self.client.start_session(request, arguments, breakpoints=breakpoints, filters=filters)

    def refused(self, says: str, **start: Any) -> None:
        """Start a session, which must fail with an error that contains this text."""
        with pytest.raises(RequestFailed) as failed:
            self.start(**start)
        assert says in failed.value.text

    def stop(self, reason: str | None = None, same: bool = False, **at: Any) -> None:
        """Wait for the next stop and select its thread.

        With `same`, wait for a stop of the selected thread, and ignore other stops before it.
        """
        stop = self.client.wait_event("stopped", lambda body: not same or body["threadId"] == self.thread)
        assert reason in (None, stop["reason"])
        self._look(stop["threadId"], **at)

    def switch(self, **at: Any) -> None:
        """Select the next other thread that stops, or has stopped without having been selected."""
        self.previous = self.thread
        stop = self.client.wait_event("stopped", lambda body: body["threadId"] != self.previous)
        self._look(stop["threadId"], **at)

    def back(self, **at: Any) -> None:
        """Select the thread that was selected before `switch`."""
        self._look(self.previous, **at)

    def locals(self, values: Mapping[str, str]) -> None:
        found = variables(self.client, self.frames[0])
        assert {name: found[name] for name in values} == values

    def evaluate(self, expression: str, result: str) -> None:
        assert self._ask(expression) == result

    def next(self) -> None:
        self._resume("next")

    def stepIn(self) -> None:
        self._resume("stepIn")

    def stepOut(self) -> None:
        self._resume("stepOut")

    def resume(self) -> None:
        self._resume("continue")

    def walk(self, stops: int, expression: str, results: Sequence[str]) -> None:
        """Continue through this many stops. `results` are the sorted values of an expression at the stops."""
        found = []
        for _ in range(stops):
            self.stop()
            found.append(self._ask(expression))
            self.resume()
        assert sorted(found) == list(results)

    def toggle(self, path: str, line: int) -> None:
        """Set a breakpoint, or remove the one that is there."""
        lines = self.lines.setdefault(path, [])
        (lines.remove if line in lines else lines.append)(line)
        specs = [{"line": line} for line in lines]
        self.answers += self.client.request("setBreakpoints", source={"path": path}, breakpoints=specs)["breakpoints"]

    def verified(self, path: str, line: int) -> None:
        """Wait until the adapter reports a breakpoint as verified."""

        def fits(breakpoint: Message) -> bool:
            return bool(breakpoint["verified"] and breakpoint["line"] == line and breakpoint["source"]["path"] == path)

        if not any(map(fits, self.answers)):
            self.client.wait_event("breakpoint", lambda body: fits(body["breakpoint"]))

    def exception(self, name: str, description: str) -> None:
        """Check what the client shows of the exception at which the thread has stopped."""
        info = self.client.request("exceptionInfo", threadId=self.thread)
        assert (info["exceptionId"], info["description"]) == (name, description)

    def output(self, category: str, text: str) -> None:
        """Wait for output of the launched program."""
        self.client.wait_event("output", lambda body: body["category"] == category and text in body["output"])

    def exited(self, code: int) -> None:
        """Wait for the exit code of the launched program, and then for the end of the session."""
        assert self.client.wait_event("exited") == {"exitCode": code}
        self.client.wait_event("terminated")

    def disconnect(self) -> None:
        self.client.request("disconnect")

    def _resume(self, command: str) -> None:
        self.client.request(command, threadId=self.thread)

    def _ask(self, expression: str) -> str:
        frame = self.frames[0]["id"]
        result: str = self.client.request("evaluate", expression=expression, frameId=frame, context="repl")["result"]
        return result

    def _look(self, thread: int, path: str | None = None, line: int | None = None, stack: Sequence[str] = ()) -> None:
        self.thread = thread
        self.frames = frames(self.client, {"threadId": thread})
        assert [frame["name"] for frame in self.frames[: len(stack)]] == list(stack)
        assert path in (None, self.frames[0]["source"]["path"])
        assert line in (None, self.frames[0]["line"])


setattr(Script, "continue", Script.resume)  # A keyword of Python, but the name of the step in all clients.
