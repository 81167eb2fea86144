"""A `raydap debug` with a scripted session: three trainers, two of them stopped, and breakpoints that are kept."""

import io
from collections.abc import Callable
from typing import Any

import msgspec
from rich.console import Console

from raydap.analysis.sets.set_syntax import parse as parse_set
from raydap.client.dap_connection import RequestRefused
from raydap.client.joining import SessionTarget
from raydap.errors import ProblemError
from raydap.protocol.raydap_messages import (
    Barriers,
    BreakpointList,
    ResumedThreads,
    SelectedWorkers,
    SetBreakpoint,
    SteppedThreads,
    StoppedThread,
    WorkerEntry,
)
from raydap.protocol.reload_messages import Reloaded
from raydap.protocol.stack_messages import CodeLocation, MergedStacks, Places, StackNode, WorkerPlace
from raydap.protocol.value_messages import Comparison, EvaluationGroup, Evaluations
from raydap.protocol.wait_messages import WaitGraph
from raydap.terminal.debugger.debugger import Debugger
from raydap.terminal.debugger.interactive import Interactive
from raydap.terminal.debugger.stopped_threads import StoppedThreads
from support.scripted_session import ScriptedLive

SOURCE = """\
import ray

def step(self, rank):
    loss = rank * 10
    return loss

@ray.remote
class Trainer:
    step = step
"""
PATH = "/cluster/train.py"
STACK = {
    "stackFrames": [
        {"id": 1001, "name": "step", "source": {"path": PATH, "sourceReference": 1002}, "line": 4},
        {"id": 1003, "name": "train", "source": {"path": PATH, "sourceReference": 1002}, "line": 5},
        {"id": 1004, "name": "main", "source": {"path": "/ray/worker.py"}, "line": 1, "presentationHint": "subtle"},
    ]
}
SETS = {"*": ("t0", "t1", "t2"), "nobody": ()}
VARIABLES = {"variables": [{"name": "rank", "value": "1"}, {"name": "loss", "value": "10"}]}
_NODE = StackNode(frame=None, count=0, members=(), running=(), label="", children=())


def _trainer(rank: int, is_stopped: bool) -> WorkerEntry:
    return WorkerEntry(
        key=f"t{rank}",
        name=f"Trainer {rank} · step · 471{rank}",
        title=f"Trainer {rank}",
        label=f"Trainer {rank} · step",
        where="",
        state="stopped" if is_stopped else "running",
        age=3.0,
        type="worker",
        pid=4710 + rank,
        node="10.0.0.7",
        node_id="n1",
        job="01000000",
        submission="",
        actor="Trainer",
        actor_name="",
        task="Trainer.step",
        agent=True,
        threads=(StoppedThread(70 + rank, "", "breakpoint", "", 0, ""),) if is_stopped else (),
        problem="",
        rank=rank,
    )


class PromptThreads(StoppedThreads):
    """A StoppedThreads that does not wait for events: here they come before the response."""

    async def wait(self, is_over: Callable[[], bool], timeout_s: float | None = None) -> bool:
        return is_over()


class ScriptedDebugger:
    """A debugger whose session is scripted.

    `execute` takes a line as the user types it; `text` is everything that was printed. With `hits_at_once`, a worker
    stops at a new breakpoint before raydap has confirmed it, as can happen in a loop.
    """

    def __init__(self) -> None:
        self.kept: list[SetBreakpoint] = []
        self.values: dict[str, Any] = {}
        self.hits_at_once = False
        self._count = 0
        entries = [_trainer(0, True), _trainer(1, True), _trainer(2, False)]
        self.live = ScriptedLive(*entries)
        self.live.connection.answers = self._answers()
        self._file = io.StringIO()
        self.debugger = Debugger(self.live, Console(file=self._file, width=80), PromptThreads())
        self.debugger.old.listing.looked.set()
        self.debugger.learn_threads(entries)
        for thread in (70, 71):
            self._stop(thread)
        self.debugger.look_at(70)
        self._interactive = Interactive(SessionTarget(), None, None)
        self._interactive.debugger = self.debugger

    @property
    def text(self) -> str:
        return self._file.getvalue()

    @property
    def requests(self) -> list[tuple[str, Any]]:
        return self.live.connection.requests

    async def execute(self, line: str) -> str:
        """Execute a line and return what it prints. Raises CommandError, SessionError and Leave."""
        before = len(self.text)
        await self._interactive.execute(line)
        await self._interactive.tasks.wait()
        return self.text[before:]

    def _stop(self, thread: int) -> None:
        self.debugger.threads.take_event("stopped", {"threadId": thread, "reason": "step"})

    def _answers(self) -> dict[str, Any]:
        targets = {"targets": [{"id": 1, "label": "x", "text": "rank"}]}
        locations: Any = lambda asked: {"breakpoints": [{"line": asked["line"]}]}  # noqa: E731
        plain: dict[str, Any] = {
            "stackTrace": STACK,
            "source": {"content": SOURCE},
            "scopes": {"scopes": [{"variablesReference": 9}]},
            "variables": VARIABLES,
            "evaluate": self._evaluate,
            "completions": targets,
            "gotoTargets": targets,
            "goto": self._move,
            "breakpointLocations": locations,
            "setBreakpoints": self._set_breakpoints,
            "setFunctionBreakpoints": self._set_breakpoints,
            "pause": lambda asked: self._stop(72),
            **dict.fromkeys(("next", "stepIn", "stepOut", "continue"), self._move),
        }
        ours: dict[str, Any] = {
            "attach": None,
            "detach": None,
            "pause": lambda asked: self._stop(72),
            "places": self._places,
            "select": lambda asked: SelectedWorkers(workers=SETS.get(asked["select"], ("t0", "t1"))),
            "step": self._step,
            "continue": self._continue,
            "stacks": MergedStacks(root=_NODE, missing=(), silent=(), unread=()),
            "evaluate": self._evaluate_many,
            "compare": Comparison(groups=(), silent=()),
            "barriers": Barriers(barriers=()),
            "reload": Reloaded((), (), (), (), (), unloaded=(), text="summary\n  changed: step in Trainer{0-2}"),
            "waits": WaitGraph((), (), (), (), unread=(), idle=1, problem="", lines=(), text="1 idle"),
            "breakpoints": lambda asked: BreakpointList(breakpoints=tuple(self.kept)),
        }
        return {**plain, **{f"raydap/{name}": _with_set(answer) for name, answer in ours.items()}}

    def _evaluate(self, asked: Any) -> Any:
        """Return the value of an expression in `values`, otherwise the expression itself."""
        value = self.values.get(asked["expression"], repr(asked["expression"])[:2000])
        return value if isinstance(value, Exception) else {"result": value}

    def _evaluate_many(self, asked: Any) -> Evaluations:
        group = EvaluationGroup(value="7", type="int", members=(70, 71), label="Trainer{0-1}")
        return Evaluations(results=(), groups=(group,), silent=())

    def _move(self, asked: Any) -> None:
        for name in ("continued", "stopped"):
            self.debugger.threads.take_event(name, {"threadId": asked["threadId"], "reason": "step"})

    def _step(self, asked: Any) -> SteppedThreads:
        for thread in (70, 71):
            self._move({"threadId": thread})
        return SteppedThreads(threads=(70, 71))

    def _continue(self, asked: Any) -> ResumedThreads:
        self._step(asked)
        return ResumedThreads(threads=(70, 71))

    def _places(self, asked: Any) -> Places:
        where = CodeLocation("step", PATH, 4)
        one = WorkerPlace(worker="t0", label="Trainer 0", text="stopped in step", location=where, thread=70, rank=0)
        other = msgspec.structs.replace(one, worker="t1", label="Trainer 1", thread=71, rank=1)
        return Places(places=(one, other), unread=())

    def _set_breakpoints(self, asked: Any) -> Any:
        path = asked.get("source", {}).get("path", "")
        before = {(each.line, each.function, each.condition, each.hit_condition): each.id for each in self.kept}
        made = []
        for spec in asked["breakpoints"]:
            key = (spec.get("line", 0), spec.get("name", ""), spec.get("condition", ""), spec.get("hitCondition", ""))
            # Like raydap, keep the ids of breakpoints that do not change.
            if (id := before.get(key)) is None:
                id = self._count = self._count + 1
                if self.hits_at_once:
                    stop = {"threadId": 72, "reason": "breakpoint", "hitBreakpointIds": [id]}
                    self._interactive._take_event("stopped", stop)
            texts = (spec.get("condition", ""), spec.get("hitCondition", ""), spec.get("logMessage", ""))
            made.append(SetBreakpoint(id, path, spec.get("line", 0), spec.get("name", ""), *texts, True, ""))
        self.kept = [each for each in self.kept if each.path != path] + made
        return {"breakpoints": [{"id": each.id, "verified": True, "line": each.line} for each in made]}


def _with_set(answer: Any) -> Callable[[Any], Any]:
    """Return an answer that refuses an invalid set, as raydap does."""

    def checked(asked: Any) -> Any:
        try:
            if asked.get("select") is not None:
                parse_set(asked["select"], {})
        except ProblemError as error:
            return RequestRefused(str(error.problem), error.problem.code.value)
        return answer(asked) if callable(answer) else answer

    return checked
