"""What clients rely on in every session, whatever happens in it; one function for each rule."""

from support.editors import Message, Transcript

OPTIONAL = {
    "invalidated": "supportsInvalidatedEvent",
    "memory": "supportsMemoryEvent",
    "progressStart": "supportsProgressReporting",
    "progressUpdate": "supportsProgressReporting",
    "progressEnd": "supportsProgressReporting",
}
"""Events that only clients with a capability may be sent (spec: InitializeRequestArguments)."""

REVERSE = {"runInTerminal": "supportsRunInTerminalRequest", "startDebugging": "supportsStartDebuggingRequest"}
"""The same for requests of the adapter; dap-mode takes any of them for runInTerminal."""

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
    """But for those of dap-mode that meet its own leaving: it sends `disconnect` and waits for no answer before."""
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
    """0 broke VS Code once (vscode#33839), and workers' own ids start there: no id of theirs may get through."""
    for message in transcript.received:
        for name, number in _ids(message.get("body", {})):
            assert number >= FIRST_HANDLE, (name, message)


def _ids(value: object) -> list[tuple[str, int]]:
    """Names and values of everything in a body that names something; a reference of 0 names nothing."""
    found: list[tuple[str, int]] = []
    if isinstance(value, list):
        for part in value:
            found += _ids(part)
    elif isinstance(value, dict) and "showUser" not in value:  # An error has an id as well, its number.
        for name, part in value.items():
            reference = name in ("variablesReference", "sourceReference")
            if isinstance(part, int) and (name in ("threadId", "frameId", "id") or (reference and part != 0)):
                found.append((name, part))
            found += _ids(part)
    return found


def nothing_is_said_of_all_threads(transcript: Transcript) -> None:
    """Absent means true for `continued`, so it has to be written."""
    assert all(body["allThreadsStopped"] is False for body in transcript.bodies("stopped"))
    assert all(body["allThreadsContinued"] is False for body in transcript.bodies("continued"))


def threads_are_introduced(transcript: Transcript) -> None:
    """A thread is `started` before it stops and never stops after it has `exited`. LSP4E relies on it."""
    alive: set[int] = set()
    for message in transcript.received:
        body: Message = message.get("body") or {}
        if message.get("event") == "thread":
            (alive.add if body["reason"] == "started" else alive.remove)(body["threadId"])
        elif message.get("event") in ("stopped", "continued"):
            assert body["threadId"] in alive, message


def focus_stays_where_the_user_looks(transcript: Transcript) -> None:
    """VS Code would go to each new stop.

    The user looks at a thread that is moved, or whose scopes are asked for; stacks are asked for at every stop. Only
    what was answered before a stop is sure to have come before it, and a thread told to run may have done so already.
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
