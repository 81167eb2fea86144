"""What a user does at a stop, asked of the bridge the way an editor asks."""

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from dap_client import Client
from local_cluster import Cluster

from support.two_machines import TwoMachines


def attach_to(client: Client, cluster: Cluster | TwoMachines, **arguments: object) -> Client:
    """Starts a session on a Ray cluster with the exception filter that post-mortem stops need."""
    where = {"dashboard": cluster.dashboard, **arguments}
    client.start_session("attach", where, filters=["uncaught"], supportsInvalidatedEvent=True)
    return client


def frames(client: Client, stop: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The stopped thread's stack, innermost frame first."""
    stack: list[dict[str, Any]] = client.request("stackTrace", threadId=stop["threadId"])["stackFrames"]
    return stack


def user_frames(client: Client, stop: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The stack without what the bridge marks as Ray's and debugpy's own."""
    return [frame for frame in frames(client, stop) if frame.get("presentationHint") != "subtle"]


def variables(client: Client, frame: Mapping[str, Any]) -> dict[str, str]:
    """The local variables of a frame, as debugpy writes their values."""
    scopes = client.request("scopes", frameId=frame["id"])["scopes"]
    listed = client.request("variables", variablesReference=scopes[0]["variablesReference"])["variables"]
    return {variable["name"]: variable["value"] for variable in listed}


def local_variables(client: Client, stop: Mapping[str, Any]) -> dict[str, str]:
    """Those of the user's innermost frame."""
    return variables(client, user_frames(client, stop)[0])


def evaluate(client: Client, stop: Mapping[str, Any], expression: str) -> str:
    """In the user's innermost frame."""
    frame = user_frames(client, stop)[0]
    result: str = client.request("evaluate", expression=expression, frameId=frame["id"], context="repl")["result"]
    return result


def go_on(client: Client, stop: Mapping[str, Any]) -> None:
    answer = client.request("continue", threadId=stop["threadId"])
    assert answer["allThreadsContinued"] is False


def walk(client: Client, stops: int, *names: str) -> Counter[tuple[str, ...]]:
    """Goes through so many stops, continuing each; counts the values of these local variables."""
    seen: Counter[tuple[str, ...]] = Counter()
    for _ in range(stops):
        stop = client.wait_event("stopped")
        found = local_variables(client, stop)
        seen[tuple(found[name] for name in names)] += 1
        go_on(client, stop)
    return seen


def name_of(client: Client, stop: Mapping[str, Any], start: str) -> list[str]:
    """The parts of the thread's name, once it begins as the pattern `start`: a stop is never held back for its name.
    Who has the stack of the stop hears of a name that becomes known later."""
    frames(client, stop)
    while True:
        listed = client.request("threads")["threads"]
        (name,) = (thread["name"] for thread in listed if thread["id"] == stop["threadId"])
        if re.match(f"{start} · ", name):
            parts: list[str] = name.split(" · ")
            return parts
        client.wait_event("thread", lambda body: body == {"reason": "started", "threadId": stop["threadId"]})


def bodies(client: Client, event: str) -> list[dict[str, Any]]:
    """The bodies of all events of this name so far."""
    return [message["body"] for message in client.events if message["event"] == event]


def problems(client: Client) -> list[str]:
    """What the user was told of without having asked."""
    return [body["output"].strip() for body in bodies(client, "output") if body.get("category") == "important"]


def line_of(source: str, text: str) -> int:
    """The number of the one line that contains `text`."""
    (line,) = (number for number, line in enumerate(source.splitlines(), start=1) if text in line)
    return line
