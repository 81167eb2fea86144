"""Messages of a client, and of workers that answer at once, for measurements of the bridge alone."""

import json
from itertools import count
from typing import Any

from raydap.core.events import ClientMessage, WorkerMessage
from raydap.protocol.types import ClientId, WorkerKey

CLIENT = ClientId(1)

_seq = count(1)


def client_request(command: str, **arguments: Any) -> ClientMessage:
    message = {"seq": next(_seq), "type": "request", "command": command, "arguments": arguments}
    return ClientMessage(CLIENT, json.dumps(message).encode())


def worker_event(worker: WorkerKey, name: str, **body: Any) -> WorkerMessage:
    return WorkerMessage(worker, json.dumps({"seq": 1, "type": "event", "event": name, "body": body}).encode())


def worker_answer(worker: WorkerKey, request: dict[str, Any], body: Any) -> WorkerMessage:
    answer = {"seq": 1, "type": "response", "request_seq": request["seq"], "success": True}
    return WorkerMessage(worker, json.dumps({**answer, "command": request["command"], "body": body}).encode())


def stack_frame(number: int) -> dict[str, Any]:
    path = "/home/user/project/rollout/worker.py" if number < 12 else "/venv/lib/python3.11/site-packages/ray/actor.py"
    place = {"line": 10 + number, "column": 1, "source": {"path": path, "sourceReference": 0}}
    return {"id": 0, "name": f"RolloutWorker.collect_{number}", **place}
