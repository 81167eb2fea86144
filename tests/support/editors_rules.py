"""Rules on which clients rely in every session, one function for each."""

from support.editors import Message, Transcript

OPTIONAL = {
    "invalidated": "supportsInvalidatedEvent",
    "memory": "supportsMemoryEvent",
    "progressStart": "supportsProgressReporting",
    "progressUpdate": "supportsProgressReporting",
    "progressEnd": "supportsProgressReporting",
}
"""Events that may be sent only to clients with a capability (spec: InitializeRequestArguments)."""

REVERSE = {"runInTerminal": "supportsRunInTerminalRequest", "startDebugging": "supportsStartDebuggingRequest"}
"""Requests of the adapter, with the same restriction. dap-mode handles each of them as runInTerminal."""

RESUMING = ("continue", "next", "stepIn", "stepOut")

FIRST_HANDLE = 1000


def assert_well_behaved(transcript: Transcript) -> None:
    sequence_has_no_gap(transcript)
    every_request_is_answered_once(transcript)
    only_what_the_client_supports(transcript)
    no_id_is_small(transcript)
    nothing_is_said_of_all_threads(transcript)
    threads_are_introduced(transcript)
    focus_stays_where_the_user_looks(transcript)


def sequence_has_no_gap(transcript: Transcript) -> None:
    numbers = [message["seq"] for message in transcript.received]
    assert numbers == list(range(1, len(numbers) + 1))


def every_request_is_answered_once(transcript: Transcript) -> None:
    """Check that each request has one response.

    dap-mode sends `disconnect` without waiting for the response to its last request, so those two may have none.
    """
    answered = [message["request_seq"] for message in transcript.received if message["type"] == "response"]
    assert len(answered) == len(set(answered))
    asked = {message["seq"]: message["command"] for message in transcript.sent}
    assert set(answered) <= asked.keys()
    leaving = next((seq for seq, command in asked.items() if command == "disconnect"), len(asked) + 1)
    if not transcript.bodies("exited"):
        assert all(seq in answered for seq in asked if seq < leaving - 1)


def only_what_the_client_supports(transcript: Transcript) -> None:
    (initialize,) = (message for message in transcript.sent if message["command"] == "initialize")
    supported = {name for name, value in initialize["arguments"].items() if value is True}
    for message in transcript.received:
        if message["type"] == "request":
            assert REVERSE[message["command"]] in supported, message
        elif message["type"] == "event":
            assert OPTIONAL.get(message["event"], "initialize") in {*supported, "initialize"}, message


def no_id_is_small(transcript: Transcript) -> None:
    """Check that no id is small.

    An id of 0 broke VS Code once (vscode#33839). Workers count their own ids from there, so a small id is one that the
    bridge has not translated.
    """
    for message in transcript.received:
        for name, number in _ids(message.get("body", {})):
            assert number >= FIRST_HANDLE, (name, message)


def _ids(value: object) -> list[tuple[str, int]]:
    """Return the name and value of every id in a body, without references of 0, which refer to nothing."""
    found: list[tuple[str, int]] = []
    if isinstance(value, list):
        for part in value:
            found += _ids(part)
    elif isinstance(value, dict) and "showUser" not in value:  # The id of an error is the error's number.
        for name, part in value.items():
            reference = name in ("variablesReference", "sourceReference")
            if isinstance(part, int) and (name in ("threadId", "frameId", "id") or (reference and part != 0)):
                found.append((name, part))
            found += _ids(part)
    return found


def nothing_is_said_of_all_threads(transcript: Transcript) -> None:
    """Check that no event is about all threads. `allThreadsContinued` must be present: its default is true."""
    assert all(body["allThreadsStopped"] is False for body in transcript.bodies("stopped"))
    assert all(body["allThreadsContinued"] is False for body in transcript.bodies("continued"))


def threads_are_introduced(transcript: Transcript) -> None:
    """Check that a thread is `started` before it stops, and never stops after `exited`. LSP4E relies on this."""
    alive: set[int] = set()
    for message in transcript.received:
        body: Message = message.get("body") or {}
        if message.get("event") == "thread":
            (alive.add if body["reason"] == "started" else alive.remove)(body["threadId"])
        elif message.get("event") in ("stopped", "continued"):
            assert body["threadId"] in alive, message


def focus_stays_where_the_user_looks(transcript: Transcript) -> None:
    """Check that new stops do not move the focus: VS Code would show each of them.

    The user's thread is the one that was last resumed or whose scopes were last requested; every stop causes a request
    for stacks, so these do not count. A response before the stop proves that the thread is in focus. A thread that was
    sent a resume request may already be running, so it is not counted as stopped.
    """
    requests = {message["seq"]: message.get("arguments") or {} for message in transcript.sent}
    owner: dict[int, int] = {}
    looked_at = None
    stopped: set[int] = set()
    for who, message in transcript.lines:
        body: Message = message.get("body") or {}
        if who == "client":
            if message.get("command") in RESUMING:
                stopped.discard(message["arguments"]["threadId"])
        elif message["type"] == "response":
            arguments = requests[message["request_seq"]]
            if message["command"] == "stackTrace":
                owner.update((frame["id"], arguments["threadId"]) for frame in body.get("stackFrames", ()))
            elif message["command"] == "scopes":
                looked_at = owner[arguments["frameId"]]
            elif message["command"] in RESUMING:
                looked_at = arguments["threadId"]
        elif message.get("event") == "stopped":
            if looked_at in stopped and looked_at != body["threadId"]:
                assert body["preserveFocusHint"] is True, message
            elif body["preserveFocusHint"] is False:
                looked_at = body["threadId"]
            stopped.add(body["threadId"])
