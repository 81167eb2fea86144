"""Sessions as text, one event a line, so that a fuzzer can mutate them; and what must hold in each session.

A line is a letter, a digit for the client or worker, and the content. `0` is the first client or worker.

    H5      the bridge is a hub that holds workers for five seconds (H: indefinitely); only as the very first line
    +       a client connects (+g: by the port for child sessions; +u: to a hub, without its token)
    u0      it shows the token
    -0      its connection ends
    <0 threads {}           it sends this request with these arguments, which need not be JSON
    ~0 bytes                it sends any bytes
    p01     these workers are paused (up to p9); v01 these run
    o0      the connection to a worker is made; x0 ends it, y0 refuses it
    a0      the worker answers all open requests as debugpy would
    =0 {}   it answers the oldest request with this body; !0 text fails it
    *0 stopped {}           it sends this event
    >0 bytes                it sends any bytes
    r f     discovery answers, or fails
    l0 name facts about a worker arrive
    k       the requested files are looked up
    s5 e5 n the launched program starts, ends with a code, cannot be started
    d       the port for child sessions opens
    t5      five seconds pass
"""

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

from raydap.analysis.ray_state import RayState, RayTask
from raydap.core import effects
from raydap.core import events as ev
from raydap.core.bridge import Bridge
from raydap.core.process_info import ListedActor, ProcessInfo, RayFacts
from raydap.core.settings import AttachSettings, HubSettings
from raydap.errors import Code, Problem
from raydap.protocol.types import ClientId, WorkerKey
from raydap.wire import envelope

_DOWN = Problem(Code.DASHBOARD_UNREACHABLE, "The dashboard does not answer.")
_FAILED = Problem(Code.LAUNCH_FAILED, "It cannot be started.")
_LONG = 10_000.0
"""A time in seconds that is longer than any timeout."""

_STAGES = 8
"""How many timeouts a request may need in turn: resolving a set can ask workers for the line, the rank and so on."""

BODIES: dict[str, Any] = {
    "evaluate": {"result": "[7, 9]", "variablesReference": 3},
    "setBreakpoints": {"breakpoints": [{"id": 0, "verified": True, "line": 7}]},
    "setFunctionBreakpoints": {"breakpoints": [{"id": 1, "verified": True}]},
    "stackTrace": {"stackFrames": [{"id": 2, "name": "step", "line": 7, "column": 1, "source": {"path": "/app/a.py"}}]},
    "scopes": {"scopes": [{"name": "Locals", "variablesReference": 3, "expensive": False}]},
    "variables": {"variables": [{"name": "x", "value": "1", "variablesReference": 4}]},
    "exceptionInfo": {"exceptionId": "ValueError", "breakMode": "unhandled"},
}


class Client:
    """One client. `open` counts unanswered requests by seq, because a client may use a seq twice."""

    def __init__(self) -> None:
        self.seq = 0
        self.heard = 0
        self.open: Counter[int] = Counter()
        self.gone = False


class Worker:
    def __init__(self, row: ProcessInfo) -> None:
        self.row = row
        self.seq = 0
        self.heard = 0
        self.asked: list[dict[str, Any]] = []
        self.dialled = self.connected = False


class Play:
    """One bridge and the script that it is fed. Raises only AssertionError, if the bridge breaks a promise."""

    def __init__(self, hub_settings: HubSettings | None = None) -> None:
        self.bridge = Bridge(hub_settings)
        self.hub = hub_settings
        self.clients: list[Client] = []
        self.workers: dict[WorkerKey, Worker] = {}
        self.files: list[str] = []
        self.unread: list[ev.Event] = []
        """Answers to the bridge's own questions, and parts of its work, fed when time passes next."""
        self.now = 0.0
        for number in range(10):
            key = WorkerKey(f"w{number}")
            self.workers[key] = Worker(ProcessInfo(key, "10.0.0.1", 40000 + number, 100 + number, "10.0.0.1"))

    @classmethod
    def run(cls, script: bytes) -> None:
        hold = float(_digit(script[1:2])) if script[1:2].isdigit() else None
        play = cls(HubSettings(AttachSettings(), hold) if script[:1] == b"H" else None)
        for line in script.split(b"\n"):
            verb = _VERBS.get(line[:1])
            if verb is not None:
                verb(play, line[1:])
        play.finish()

    def finish(self) -> None:
        """Check that every request is answered, and that no state of the session remains when all clients have left."""
        self.feed(ev.DebuggeeStarted("train.py", 1), ev.DiscoveryReady("the cluster"))
        self.look_up(b"")
        for _ in range(_STAGES):
            self.pass_time(_LONG)
        self.look_up(b"")
        for client in self.clients:
            assert client.gone or not +client.open, f"without an answer: {+client.open}"
        for _ in self.clients:
            self.hang_up(b"0")
        if self.hub is not None:
            self.feed(ev.Shutdown())
        self.pass_time(_LONG)
        for worker in list(self.workers.values()):
            if worker.dialled:
                self.end_worker(worker)
        session = self.bridge.state
        assert self.bridge.idle, f"held: {session.workers}, {session.clients}"
        assert not len(session.pending), "requests to workers are left"
        assert not len(session.handles), "handles are left"
        assert not session.stopped, "stopped threads are left"

    def feed(self, *events: ev.Event) -> None:
        for event in events:
            for effect in self.bridge.handle(event):
                self.perform(effect)

    def perform(self, effect: effects.Effect) -> None:
        match effect:
            case effects.SendToClient(client, data):
                self.to_client(self.clients[client], json.loads(data))
            case effects.DropClient(client):
                self.clients[client].gone = True
            case effects.DialWorker(key, host, port):
                worker = self.workers.setdefault(key, Worker(ProcessInfo(key, host, port)))
                assert not worker.dialled, f"{key} is dialled twice"
                worker.dialled, worker.seq, worker.heard = True, 0, 0
            case effects.SendToWorker(key, data):
                self.to_worker(self.workers[key], json.loads(data))
            case effects.HangUp(key):
                self.forget(self.workers[key])
            case effects.CheckFiles(paths):
                self.files += paths
            case effects.ScheduleNextPart():
                self.unread.append(ev.NextPart())
            case effects.AskWaiting(target):
                assert not self.workers[target.worker].dialled, f"{target.worker} is dialled twice"
                self.unread.append(ev.WaitingAnswered(target.worker, "", "it does not answer"))
            case effects.SampleStack(row):
                self.unread.append(ev.StackSampled(row.key, "", "py-spy is not installed"))
            case effects.FindForkedWaits(number):
                self.unread.append(ev.ForkedWaitsFound(number, "{}" if len(self.unread) % 2 else "none"))
            case effects.AskActors():
                starting = ListedActor("", "Trainer", alive=False, node_id="", pid=0)
                self.unread.append(ev.ActorsListed((starting,) * (len(self.unread) % 2)))
            case effects.AskRayState(number, _):
                task = RayTask("7" * 48, "step", "RUNNING", worker=WorkerKey("w1"))
                self.unread.append(ev.RayStateListed(number, RayState((task,) * (len(self.unread) % 2))))
            case effects.AskAgent(_, number):
                self.unread.append(ev.AgentAnswered(number, "", "it does not answer"))
            case effects.Log("error", text):
                raise AssertionError(f"the bridge failed: {text}")
            case _:
                pass

    def to_client(self, client: Client, message: dict[str, Any]) -> None:
        assert not client.gone, f"sent to a client that has left: {message}"
        client.heard += 1
        assert message["seq"] == client.heard, message
        if message["type"] == "response":
            asked = message["request_seq"]
            assert client.open[asked] > 0, f"answered twice or unasked: {message}"
            client.open[asked] -= 1

    def to_worker(self, worker: Worker, message: dict[str, Any]) -> None:
        assert worker.connected, f"{worker.row.key} is not connected and gets {message}"
        worker.heard += 1
        assert message["seq"] == worker.heard, message
        if message["type"] == "request":
            worker.asked.append(message)

    # Events of clients.

    def connect(self, said: bytes) -> None:
        self.clients.append(Client())
        client = ClientId(len(self.clients) - 1)
        self.feed(ev.ClientConnected(client, child_session=said == b"g", admitted=said != b"u"))

    def admit(self, said: bytes) -> None:
        client = self.client(said)
        if client is not None:
            self.feed(ev.ClientAdmitted(ClientId(self.clients.index(client))))

    def ask(self, said: bytes) -> None:
        who, _, rest = said.partition(b" ")
        command, _, arguments = rest.partition(b" ")
        client = self.client(who)
        if client is not None:
            client.seq += 1
            name = command.decode("latin-1")
            self.say(client, envelope.request(client.seq, name, arguments if arguments else None))

    def say_anything(self, said: bytes) -> None:
        client = self.client(said)
        if client is not None:
            self.say(client, said[2:])

    def say(self, client: Client, data: bytes) -> None:
        try:
            message = envelope.read(data)
            if message.type == "request":
                client.open[message.seq] += 1
        except envelope.EnvelopeError:
            pass
        self.feed(ev.ClientMessage(ClientId(self.clients.index(client)), data))

    def hang_up(self, said: bytes) -> None:
        client = self.client(said)
        if client is not None:
            client.gone = True
            self.feed(ev.ClientGone(ClientId(self.clients.index(client)), "connection reset"))

    def client(self, who: bytes) -> Client | None:
        """Return a connected client, chosen by this digit, or None."""
        there = [client for client in self.clients if not client.gone]
        return there[_digit(who) % len(there)] if there else None

    # Events of workers.

    def list_paused(self, said: bytes) -> None:
        keys = dict.fromkeys(WorkerKey(f"w{digit - 48}") for digit in said if 48 <= digit < 58)
        self.feed(ev.WorkersPaused(tuple(self.workers[key].row for key in keys)))

    def list_alive(self, said: bytes) -> None:
        keys = dict.fromkeys(WorkerKey(f"w{digit - 48}") for digit in said if 48 <= digit < 58)
        self.feed(ev.WorkersAlive({self.workers[key].row: RayFacts() for key in keys}))

    def come_up(self, said: bytes) -> None:
        worker = self.worker(said)
        if worker.dialled and not worker.connected:
            worker.connected = True
            self.feed(ev.WorkerConnected(worker.row.key))

    def break_off(self, said: bytes) -> None:
        worker = self.worker(said)
        if worker.dialled:
            self.end_worker(worker)

    def refuse(self, said: bytes) -> None:
        worker = self.worker(said)
        if worker.dialled and not worker.connected:
            self.end_worker(worker, refused=True)

    def end_worker(self, worker: Worker, refused: bool = False) -> None:
        self.forget(worker)
        self.feed(ev.WorkerGone(worker.row.key, "connection reset", refused))

    def forget(self, worker: Worker) -> None:
        worker.dialled = worker.connected = False
        worker.asked.clear()

    def answer_all(self, said: bytes) -> None:
        """Answer as debugpy does: `attach` is answered after `configurationDone`."""
        worker = self.worker(said)
        self.come_up(said)
        for _ in range(50):
            if not worker.asked:
                break
            request = worker.asked.pop(0)
            if request["command"] == "attach" and not any(r["command"] == "configurationDone" for r in worker.asked):
                self.from_worker(worker, {"type": "event", "event": "initialized"})
                worker.asked.append(request)
                if len(worker.asked) == 1:
                    break
            else:
                self.reply(worker, request, BODIES.get(request["command"]))

    def answer(self, said: bytes) -> None:
        worker = self.worker(said)
        if worker.asked:
            request = worker.asked.pop(0)
            command = envelope.dump(request["command"])
            head = b'{"seq":1,"type":"response","request_seq":%d,"success":true,"command":%b,"body":%b}'
            self.raw(worker, head % (request["seq"], command, said[2:] or b"{}"))

    def fail(self, said: bytes) -> None:
        worker = self.worker(said)
        if worker.asked:
            request = worker.asked.pop(0)
            text = said[2:].decode("latin-1")
            self.raw(worker, envelope.failure(1, request["seq"], request["command"], text))

    def reply(self, worker: Worker, request: dict[str, Any], body: Any) -> None:
        answer = {"type": "response", "request_seq": request["seq"], "success": True, "command": request["command"]}
        self.from_worker(worker, answer if body is None else {**answer, "body": body})

    def tell(self, said: bytes) -> None:
        name, _, body = said[2:].partition(b" ")
        self.raw(self.worker(said), envelope.event(1, name.decode("latin-1"), body if body else None))

    def from_worker(self, worker: Worker, message: dict[str, Any]) -> None:
        worker.seq += 1
        self.raw(worker, json.dumps({"seq": worker.seq, **message}).encode())

    def raw(self, worker: Worker, data: bytes) -> None:
        if worker.connected:
            self.feed(ev.WorkerMessage(worker.row.key, data))

    def anything(self, said: bytes) -> None:
        self.raw(self.worker(said), said[2:])

    def worker(self, who: bytes) -> Worker:
        """Return a worker by its digit. Children follow the ten that discovery finds."""
        workers = list(self.workers.values())
        return workers[_digit(who) % len(workers)]

    # Other events.

    def facts(self, said: bytes) -> None:
        facts = RayFacts(task=said[2:].decode("latin-1"))
        self.feed(ev.FactsListed({self.worker(said).row.key: facts}))

    def look_up(self, said: bytes) -> None:
        while self.files:
            files, self.files = self.files, []
            self.feed(ev.FilesChecked({path: said == b"1" for path in files}))

    def pass_time(self, seconds: float) -> None:
        self.now += seconds
        self.feed(ev.Tick(self.now))
        unread, self.unread = self.unread, []
        self.feed(*unread)


def _digit(who: bytes) -> int:
    return who[0] - 48 if who and 48 <= who[0] < 123 else 0


_VERBS: dict[bytes, Callable[[Play, bytes], None]] = {
    b"+": Play.connect,
    b"u": Play.admit,
    b"-": Play.hang_up,
    b"<": Play.ask,
    b"~": Play.say_anything,
    b"p": Play.list_paused,
    b"v": Play.list_alive,
    b"o": Play.come_up,
    b"x": Play.break_off,
    b"y": Play.refuse,
    b"a": Play.answer_all,
    b"=": Play.answer,
    b"!": Play.fail,
    b"*": Play.tell,
    b">": Play.anything,
    b"r": lambda play, _: play.feed(ev.DiscoveryReady("the cluster")),
    b"f": lambda play, _: play.feed(ev.DiscoveryFailed(_DOWN)),
    b"l": Play.facts,
    b"k": Play.look_up,
    b"s": lambda play, said: play.feed(ev.DebuggeeStarted("train.py", _digit(said))),
    b"e": lambda play, said: play.feed(ev.DebuggeeExited(_digit(said))),
    b"n": lambda play, _: play.feed(ev.DebuggeeFailed(_FAILED)),
    b"d": lambda play, _: play.feed(ev.ChildPortOpened(40000, "ticket")),
    b"t": lambda play, said: play.pass_time(_digit(said)),
}
