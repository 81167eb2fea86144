"""The steps of a scenario (support/editors.py), done with the example client of the documentation."""

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
    """The steps. `stop` looks at the next stop, and what follows is about the thread that is looked at. `stack` has the
    names of the innermost frames, `path` and `line` are the first one's.
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
        """Starts a session, in the way and order of each client."""
        self.lines = {path: list(lines) for path, lines in (breakpoints or {}).items()}
        self.client.start_session(request, arguments, breakpoints=breakpoints, filters=filters)

    def refused(self, says: str, **start: Any) -> None:
        """The same, but it must fail, and the user be told so with this text in it."""
        with pytest.raises(RequestFailed) as failed:
            self.start(**start)
        assert says in failed.value.text

    def stop(self, reason: str | None = None, same: bool = False, **at: Any) -> None:
        """`same`: it must be a stop of the thread that was looked at before, whatever else has stopped."""
        stop = self.client.wait_event("stopped", lambda body: not same or body["threadId"] == self.thread)
        assert reason in (None, stop["reason"])
        self._look(stop["threadId"], **at)

    def switch(self, **at: Any) -> None:
        """Leaves a stopped thread for the next one that stops or has stopped, and was not looked at yet."""
        self.previous = self.thread
        stop = self.client.wait_event("stopped", lambda body: body["threadId"] != self.previous)
        self._look(stop["threadId"], **at)

    def back(self, **at: Any) -> None:
        """To the thread from which `switch` came."""
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
        """Goes through so many stops, continuing each; `results` are the sorted values of an expression at each."""
        found = []
        for _ in range(stops):
            self.stop()
            found.append(self._ask(expression))
            self.resume()
        assert sorted(found) == list(results)

    def toggle(self, path: str, line: int) -> None:
        """Sets a breakpoint, or removes the one that is there."""
        lines = self.lines.setdefault(path, [])
        (lines.remove if line in lines else lines.append)(line)
        specs = [{"line": line} for line in lines]
        self.answers += self.client.request("setBreakpoints", source={"path": path}, breakpoints=specs)["breakpoints"]

    def verified(self, path: str, line: int) -> None:
        """Waits until a breakpoint is shown as verified."""

        def fits(breakpoint: Message) -> bool:
            return bool(breakpoint["verified"] and breakpoint["line"] == line and breakpoint["source"]["path"] == path)

        if not any(map(fits, self.answers)):
            self.client.wait_event("breakpoint", lambda body: fits(body["breakpoint"]))

    def exception(self, name: str, description: str) -> None:
        """What the client shows of the exception at which it has stopped."""
        info = self.client.request("exceptionInfo", threadId=self.thread)
        assert (info["exceptionId"], info["description"]) == (name, description)

    def output(self, category: str, text: str) -> None:
        """Waits for output of the launched program."""
        self.client.wait_event("output", lambda body: body["category"] == category and text in body["output"])

    def exited(self, code: int) -> None:
        """Waits for the end of the session by the end of the launched program."""
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


setattr(Script, "continue", Script.resume)  # A keyword of Python, but what all clients call it.
