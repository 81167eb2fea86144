"""The stacks of stopped threads, their local variables, and the source of a frame."""

import linecache
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from raydap.client.dap_connection import DapConnection, RequestRefused, SessionError
from raydap.presentation.short_text import file_name


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame of a stopped thread."""

    id: int
    """The handle of the frame."""
    name: str
    """The name of the function."""
    path: str
    """The path or the name of the source; "?" if there is neither."""
    reference: int
    """The handle of a source that only the worker has (DAP's `sourceReference`); 0 for a file."""
    line: int
    """The line that the frame executes, counted from 1."""
    is_library: bool
    """Whether the code is Ray's or debugpy's."""
    caller: str = ""
    """The label of the caller that the frame belongs to, such as `called by driver train.py`; "" for the thread's own
    frames."""

    @property
    def place(self) -> str:
        """The place as pdb writes it: `train.py(42)step()`."""
        call = "" if self.name.startswith("<") else "()"
        return f"{file_name(self.path)}({self.line}){self.name}{call}{self.of_caller}"

    @property
    def of_caller(self) -> str:
        """The caller whose frame this is, for the end of a line; "" for the thread's own frames."""
        return f" ({self.caller})" if self.caller else ""


def frame_of(body: Any, caller: str = "") -> Frame:
    """Return the frame for a StackFrame of DAP. The frames of a caller are subtle, but not those of a library."""
    source = body.get("source") or {}
    return Frame(
        body["id"],
        # debugpy adds this to the frame where it shows an exception.
        str(body["name"]).removesuffix(" (Current frame)"),
        str(source.get("path") or source.get("name") or "?"),
        int(source.get("sourceReference") or 0),
        int(body["line"]),
        not caller and body.get("presentationHint") == "subtle",
        caller,
    )


async def stack(connection: DapConnection, thread: int) -> list[Frame]:
    """Return the frames of a stopped thread and of its task's callers, innermost first. Raises SessionError."""
    body = await connection.request("stackTrace", {"threadId": thread})
    found: list[Frame] = []
    caller = ""
    for each in body["stackFrames"]:
        if each.get("presentationHint") == "label":
            caller = str(each["name"])
        else:
            found.append(frame_of(each, caller))
    return found


def users(frames: Sequence[Frame]) -> list[Frame]:
    """Return the frames with code of the user's; all frames if there are none."""
    return [frame for frame in frames if not frame.is_library] or list(frames)


class Sources:
    """Reads source files on this machine, or else from the workers.

    Files from workers are read once.
    """

    def __init__(self) -> None:
        self._read: dict[tuple[str, int], list[str]] = {}

    async def lines(self, connection: DapConnection, frame: Frame) -> list[str]:
        """Return the lines of the frame's file without line ends; [] if it cannot be read. Raises SessionError."""
        if frame.reference == 0 and (here := _lines_here(frame.path)):
            return here
        key = (frame.path, frame.reference)
        if key not in self._read:
            source = {"path": frame.path, "sourceReference": frame.reference}
            try:
                body = await connection.request("source", {"source": source, "sourceReference": frame.reference})
            except RequestRefused:
                return []
            self._read[key] = str(body.get("content") or "").splitlines()
        return self._read[key]


def _lines_here(path: str) -> list[str]:
    if not os.path.isfile(path):
        return []
    linecache.checkcache(path)
    return [line.rstrip("\r\n") for line in linecache.getlines(path)]


async def variables(connection: DapConnection, frame: Frame) -> list[tuple[str, str]]:
    """Return the names and values of the frame's local variables, as text. Raises SessionError."""
    scopes = (await connection.request("scopes", {"frameId": frame.id}))["scopes"]
    if not scopes:
        return []
    body = await connection.request("variables", {"variablesReference": scopes[0]["variablesReference"]})
    try:
        return [(each["name"], each["value"]) for each in body["variables"] if not is_group(each)]
    except (KeyError, TypeError) as error:
        raise SessionError(f"The variables cannot be read ({error}).") from None


def is_group(variable: Any) -> bool:
    """Return whether debugpy lists this as a group of variables, such as `special variables`."""
    return " variables" in str(variable.get("name")) and not variable.get("evaluateName")
