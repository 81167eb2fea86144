"""The requests of a user at a stop, sent to the bridge as an editor sends them."""

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from dap_client import Client
from local_cluster import Cluster

from support.two_machines import TwoMachines


def attach_to(client: Client, cluster: Cluster | TwoMachines, **arguments: object) -> Client:
    """Start a session on a Ray cluster with the exception filter that post-mortem stops need."""
    where = {"dashboard": cluster.dashboard, **arguments}
    client.start_session("attach", where, filters=["uncaught"], supportsInvalidatedEvent=True)
    return client


def frames(client: Client, stop: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the stopped thread's stack, innermost frame first."""
    stack: list[dict[str, Any]] = client.request("stackTrace", threadId=stop["threadId"])["stackFrames"]
    return stack


def user_frames(client: Client, stop: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the stack without frames of Ray and debugpy, and without those of callers."""
    return [frame for frame in frames(client, stop) if frame.get("presentationHint") not in ("subtle", "label")]


def variables(client: Client, frame: Mapping[str, Any]) -> dict[str, str]:
    """Return the local variables of a frame, with their values as debugpy formats them."""
    scopes = client.request("scopes", frameId=frame["id"])["scopes"]
    listed = client.request("variables", variablesReference=scopes[0]["variablesReference"])["variables"]
    return {variable["name"]: variable["value"] for variable in listed}


def local_variables(client: Client, stop: Mapping[str, Any]) -> dict[str, str]:
    """Return the local variables of the user's innermost frame."""
    return variables(client, user_frames(client, stop)[0])


def evaluate(client: Client, stop: Mapping[str, Any], expression: str) -> str:
    """Evaluate an expression in the user's innermost frame and return the result."""
    frame = user_frames(client, stop)[0]
    result: str = client.request("evaluate", expression=expression, frameId=frame["id"], context="repl")["result"]
    return result


def go_on(client: Client, stop: Mapping[str, Any]) -> None:
    answer = client.request("continue", threadId=stop["threadId"])
    assert answer["allThreadsContinued"] is False


def walk(client: Client, stops: int, *names: str) -> Counter[tuple[str, ...]]:
    """Continue through this many stops, and count the values of these local variables."""
    seen: Counter[tuple[str, ...]] = Counter()
    for _ in range(stops):
        stop = client.wait_event("stopped")
        found = local_variables(client, stop)
        seen[tuple(found[name] for name in names)] += 1
        go_on(client, stop)
    return seen


def name_of(client: Client, stop: Mapping[str, Any], start: str) -> list[str]:
    """Wait until the thread's name matches the pattern `start`, and return the parts of the name.

    The bridge shows a stop before it has a name. After the client has requested the stack, it sends a `thread` event
    when the name changes.
    """
    frames(client, stop)
    while True:
        listed = client.request("threads")["threads"]
        (name,) = (thread["name"] for thread in listed if thread["id"] == stop["threadId"])
        if re.match(f"{start} · ", name):
            parts: list[str] = name.split(" · ")
            return parts
        client.wait_event("thread", lambda body: body == {"reason": "started", "threadId": stop["threadId"]})


def bodies(client: Client, event: str) -> list[dict[str, Any]]:
    """Return the bodies of all events of this name so far."""
    return [message["body"] for message in client.events if message["event"] == event]


def problems(client: Client) -> list[str]:
    """Return the problems that the bridge has reported in the console."""
    return [body["output"].strip() for body in bodies(client, "output") if body.get("category") == "important"]


def line_of(source: str, text: str) -> int:
    """Return the number of the only line that contains `text`."""
    (line,) = (number for number, line in enumerate(source.splitlines(), start=1) if text in line)
    return line
