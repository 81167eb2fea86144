"""Whole sessions as text, and a recording of debugpy itself: the files of tests/golden.

The tests compare them; with --regenerate this module writes all of them again (CONTRIBUTING.md). Ids are replaced by
their kind and order of appearance, so a transcript changes only when the session does.
"""

import argparse
import copy
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from raydap.core.events import DebuggeeExited, DebuggeeOutput, DebuggeeStarted
from raydap.core.process_info import RayFacts
from raydap.core.translate.rewrite import Id, rewrite
from raydap.inworker import calls
from raydap.protocol.id_fields import ARGUMENTS, EVENTS, RESPONSES, Kind
from support.fake_client import FakeClient
from support.fake_worker import FakeWorker
from support.playbook import Play

FOLDER = Path(__file__).parent.parent / "golden"
DEBUGPY = FOLDER / "debugpy_session.jsonl"
EXAMPLES = FOLDER.parent.parent / "docs" / "examples"


def merged(play: Play) -> dict[str, FakeClient]:
    """Two workers stop. The client steps and resumes one; the other dies."""
    client = play.session({"justMyCode": False})
    client.request("setBreakpoints", source={"path": "/app/train.py"}, breakpoints=[{"line": 7, "condition": "x > 1"}])
    one = play.worker("w1", RayFacts(task="Trainer.step", actor="Trainer"))
    two = play.worker("w2", RayFacts(task="evaluate_model"))
    play.paused(one, two)
    one.stop(hitBreakpointIds=[0])
    two.stop()
    first, second = (thread["id"] for thread in client.request("threads")["threads"])
    frame = client.request("stackTrace", threadId=first)["stackFrames"][0]["id"]
    scope = client.request("scopes", frameId=frame)["scopes"][0]["variablesReference"]
    client.request("variables", variablesReference=scope)
    client.request("evaluate", expression="x", frameId=frame)
    client.request("next", threadId=first)
    client.send("scopes", frameId=frame)
    one.stop(reason="step")
    client.request("continue", threadId=first)
    two.die("connection reset")
    client.send("continue", threadId=second)
    client.send("restart")
    client.send("restartFrame", frameId=frame)
    client.request("loadedSources")
    client.request("breakpointLocations", source={"path": "/app/train.py"}, line=7, endLine=9)
    client.request("disconnect")
    return {"editor": client}


def shared(play: Play) -> dict[str, FakeClient]:
    """Share a threaded actor between an editor and a terminal, which joins later and leaves later."""
    editor = play.session(supportsInvalidatedEvent=True)
    (worker,) = play.attached("w1")
    for thread in (1, 2, 3):
        worker.stop(thread)
    worker.facts = RayFacts(task="Counter.add", actor="Counter")
    terminal = play.joined()
    threads = [thread["id"] for thread in terminal.request("threads")["threads"]]
    terminal.request("continue", threadId=threads[1])
    worker.stop(2)
    editor.request("disconnect")
    terminal.request("pause", threadId=0)
    worker.exit(3)
    terminal.request("disconnect")
    return {"editor": editor, "terminal": terminal}


def launched(play: Play) -> dict[str, FakeClient]:
    """Launch a program and follow it from its first output to its exit code."""
    client = play.client()
    client.send("launch", program="train.py", args=["--epochs", "3"])
    client.request("setExceptionBreakpoints", filters=["uncaught"])
    client.request("configurationDone")
    play.feed(DebuggeeStarted("train.py", 4711), DebuggeeOutput("stdout", "epoch 1\n"))
    driver = play.worker("driver", worker_type="DRIVER")
    play.paused(driver)
    driver.stop(reason="exception", text="ValueError", description="ValueError: no data")
    (thread,) = client.request("threads")["threads"]
    client.request("exceptionInfo", threadId=thread["id"])
    client.request("continue", threadId=thread["id"])
    driver.say("terminated")
    play.feed(DebuggeeOutput("stderr", "ValueError: no data\n"), DebuggeeExited(1))
    client.request("disconnect")
    return {"editor": client}


SESSIONS: dict[str, Callable[[Play], dict[str, FakeClient]]] = {
    "merged": merged,
    "shared": shared,
    "launched": launched,
}


def transcript(name: str) -> str:
    """Return the messages that the clients of a session sent (>) and received (<)."""
    play = Play()
    clients = SESSIONS[name](play)
    mask = _mask()
    parts = []
    for who, client in clients.items():
        parts.append(f"# {who}\n" + "".join(_line(message, mask) for message in client.transcript))
    return "\n".join(parts)


def _mask() -> Callable[[Kind, Id], Id]:
    names: dict[tuple[Kind, Id], str] = {}
    count: dict[Kind, int] = {}

    def mask(kind: Kind, handle: Id) -> Id:
        if (kind, handle) not in names:
            count[kind] = count.get(kind, 0) + 1
            names[kind, handle] = f"<{kind.value} {count[kind]}>"
        return names[kind, handle]

    return mask


def _line(message: dict[str, Any], mask: Callable[[Kind, Id], Id]) -> str:
    part = "arguments" if message["type"] == "request" else "body"
    body = copy.deepcopy(message.get(part))
    name = message.get("event") or message["command"]
    table = {"request": ARGUMENTS, "response": RESPONSES, "event": EVENTS}[message["type"]]
    if name in table:
        rewrite(body, table[name], mask)
    outcome = {True: "", False: " failed"}[message.get("success", True)]
    text = "" if body is None else " " + json.dumps(body, ensure_ascii=False)
    return f"{'>' if part == 'arguments' else '<'} {message['type']} {name}{outcome}{text}\n"


PROGRAM = """\
import debugpy, sys, threading
print(debugpy.listen(("127.0.0.1", 0))[1], flush=True)
def work(answer=41):
    debugpy.wait_for_client()
    debugpy.breakpoint()
    answer = 42
    answer += 1
    print("end")
threading.Thread(target=work).start()
sys.stdin.read()
"""
# The main thread waits, because debugpy may or may not report the exit of a thread when the process ends with it.


def record_debugpy() -> str:
    """Return what a real debugpy sends when it gets the bridge's requests, in its own order, one message per line."""
    sys.path.insert(0, str(EXAMPLES))
    from dap_client import Client

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "program.py")
        path.write_text(PROGRAM, encoding="utf-8")
        command = [sys.executable, "-Xfrozen_modules=off", str(path)]
        pipe = subprocess.PIPE
        with subprocess.Popen(command, cwd=folder, text=True, stdin=pipe, stdout=pipe) as program:
            assert program.stdin is not None
            assert program.stdout is not None
            try:
                with Client.connect("127.0.0.1", int(program.stdout.readline())) as worker:
                    _debug(worker, str(path))
                    program.stdin.close()
                    worker.wait_event("terminated")
            finally:
                program.kill()
        lines = [json.dumps(_masked(message, folder)) for message in worker.received]
    return "\n".join(lines) + "\n"


def _debug(worker: Any, path: str) -> None:
    asked = {message["command"]: message.get("arguments", {}) for message in imitate_debugpy().heard}
    initialize = worker.send("initialize", **asked["initialize"])
    worker.send("attach", **asked["attach"])
    worker.result(initialize)
    worker.wait_event("initialized")
    worker.request("evaluate", expression=calls.enter(True), context="repl")
    worker.request("evaluate", expression=calls.job_folders(), context="clipboard")
    worker.request("setBreakpoints", source={"path": path}, breakpoints=[{"line": 6}])
    worker.request("setFunctionBreakpoints", breakpoints=[{"name": "step"}])
    worker.request("setExceptionBreakpoints", filters=["uncaught"])
    worker.request("configurationDone")
    thread = worker.wait_event("stopped")["threadId"]
    frame = worker.request("stackTrace", threadId=thread, levels=1)["stackFrames"][0]["id"]
    # The order of these events varies. Waiting for them here gives the recording a fixed order.
    worker.wait_event("module")
    worker.wait_event("module")
    scope = worker.request("scopes", frameId=frame)["scopes"][0]["variablesReference"]
    worker.request("evaluate", expression=calls.show_arrays(), context="clipboard")
    worker.request("variables", variablesReference=scope)
    worker.request("next", threadId=thread)
    worker.wait_event("stopped")
    worker.request("evaluate", expression=calls.resume_thread(thread), context="repl")
    worker.wait_event("thread", lambda body: body["reason"] == "exited")


def _masked(value: Any, folder: str) -> Any:
    """Replace what differs from run to run: paths, ports and process ids."""
    if isinstance(value, dict):
        changing = ("port", "systemProcessId")
        return {key: 1 if key in changing else _masked(item, folder) for key, item in value.items() if key != "seq"}
    if isinstance(value, list):
        return [_masked(item, folder) for item in value[:3]]
    return value.replace(folder, "/app").replace(sys.prefix, "/venv")[:200] if isinstance(value, str) else value


def imitate_debugpy() -> FakeWorker:
    """Return a fake worker after the same session."""
    play = Play()
    client = play.session()
    client.request("setBreakpoints", source={"path": "/app/program.py"}, breakpoints=[{"line": 6}])
    client.request("setFunctionBreakpoints", breakpoints=[{"name": "step"}])
    (worker,) = play.attached("w1")
    worker.stop(hitBreakpointIds=[0])
    (thread,) = client.request("threads")["threads"]
    frame = client.request("stackTrace", threadId=thread["id"])["stackFrames"][0]["id"]
    scope = client.request("scopes", frameId=frame)["scopes"][0]["variablesReference"]
    client.request("variables", variablesReference=scope)
    worker.hold = {"evaluate"}  # The answer to the wake may precede or follow the stop; in the recording it follows.
    client.request("next", threadId=thread["id"])
    worker.stop(reason="step")
    worker.release()
    client.request("continue", threadId=thread["id"])
    worker.exit(1)
    worker.say("terminated")
    return worker


def main() -> None:
    parser = argparse.ArgumentParser(description="The files of tests/golden; without the switch they are compared.")
    parser.add_argument("--regenerate", action="store_true")
    if parser.parse_args().regenerate:
        for name in SESSIONS:
            (FOLDER / f"{name}.txt").write_text(transcript(name), encoding="utf-8")
        DEBUGPY.write_text(record_debugpy(), encoding="utf-8")
    changed = [name for name in SESSIONS if (FOLDER / f"{name}.txt").read_text(encoding="utf-8") != transcript(name)]
    sys.exit(f"changed: {', '.join(changed)}" if changed else 0)


if __name__ == "__main__":
    main()
