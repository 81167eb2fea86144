"""The texts with which a FakeWorker answers some of raydap's own expressions."""

import ast
import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from support.fake_worker import FakeWorker


def text_answer(worker: "FakeWorker", expression: str) -> str | None:
    """Return the text, None for other expressions."""
    if found := re.search(r"call_site_values\.(\w+)\([^,]*, '(\w+)'(?:, (\d+))?\)", expression):
        return _of_call(worker, found[1], found[2], int(found[3] or 0))
    if "code_reload.reload_code" in expression:
        return worker.reload
    if "watched_places.place(" in expression:
        return json.dumps(worker.place)
    if "watchpoints.watchpoints(" in expression:
        specs = ast.literal_eval(re.findall(r"loads\((.*?)\)\)\)\)\(", expression, re.DOTALL)[0])
        worker.watchpoints = json.loads(specs)
        return json.dumps([{"number": each["number"], **worker.watch_answer} for each in worker.watchpoints])
    return None


def _of_call(worker: "FakeWorker", function: str, task: str, number: int) -> str:
    frame, recorded = worker.running_frames.get((task, number)), worker.recorded.get(task, "")
    answers: dict[str, Any] = {
        "read_call": json.dumps(recorded) if isinstance(recorded, dict) else recorded,
        "running_frame": "" if frame is None else str(frame),
        "frame_values": "" if frame is None else json.dumps(worker.locals),
    }
    return str(answers[function])
