"""If the engine's work fails, each request is still answered, and the log has the traceback."""

import asyncio
import json
import os
from collections.abc import Awaitable, Callable
from typing import Any, NoReturn

import pytest

from raydap.cluster import ray_cluster
from raydap.cluster.dashboard.dashboard_address import DashboardLocation
from raydap.cluster.jobs import debuggee_job
from raydap.cluster.ray_cluster import RayCluster
from raydap.core import effects
from raydap.core import events as ev
from raydap.protocol.types import WorkerKey
from raydap.runtime import engine as engine_module
from raydap.runtime.debuggee_process import DebuggeeProcess
from raydap.runtime.engine import Engine
from raydap.runtime.worker_dialer import WorkerDialer
from raydap.transport.peer import Peer
from unit.cluster.fake_dashboard import FakeDashboard

WAIT = 30.0
TOO_MANY = OSError(24, "Too many open files")


class Editor(Peer):
    """A client without a connection."""

    def __init__(self, on_message: Callable[[bytes], None], on_gone: Callable[[str], None]) -> None:
        super().__init__(on_message, on_gone)
        self.take = on_message
        self.received: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._seq = 0

    def send(self, body: bytes) -> None:
        self.received.put_nowait(json.loads(body))

    def close(self) -> None:
        self._ended.set()

    def ask(self, command: str, **arguments: Any) -> int:
        self._seq += 1
        message = {"seq": self._seq, "type": "request", "command": command, "arguments": arguments}
        self.take(json.dumps(message).encode())
        return self._seq

    async def next(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        async def look() -> dict[str, Any]:
            while not wanted(message := await self.received.get()):
                pass
            return message

        return await asyncio.wait_for(look(), WAIT)

    async def answer(self, seq: int) -> dict[str, Any]:
        return await self.next(lambda message: message.get("request_seq") == seq)

    async def launch(self, **arguments: Any) -> dict[str, Any]:
        """Return the answer to `launch`, which comes after the configuration."""
        seq = self.ask("launch", program=__file__, **arguments)
        await self.next(lambda message: message.get("event") == "initialized")
        self.ask("configurationDone")
        return await self.answer(seq)

    async def problem(self) -> str:
        """Return the text of the next important output for the user."""
        message = await self.next(lambda message: (message.get("body") or {}).get("category") == "important")
        return str(message["body"]["output"])


def run(script: Callable[[Engine, Editor], Awaitable[None]]) -> None:
    async def main() -> None:
        engine = Engine()
        editors: list[Editor] = []

        def connect(on_message: Callable[[bytes], None], on_gone: Callable[[str], None]) -> Peer:
            editors.append(Editor(on_message, on_gone))
            return editors[0]

        try:
            engine.clients.connect(connect)
            editors[0].ask("initialize", adapterID="raydap")
            await script(engine, editors[0])
        finally:
            await asyncio.wait_for(engine.close(), WAIT)

    asyncio.run(main())


def fails(error: Exception) -> Callable[..., Awaitable[NoReturn]]:
    async def work(*_: object, **__: object) -> NoReturn:
        raise error

    return work


@pytest.mark.parametrize(
    ("error", "code", "reason"),
    [(TOO_MANY, 2002, "(Too many open files)"), (RuntimeError("odd"), 1010, "(RuntimeError: odd)")],
)
def test_attach_is_answered_when_looking_for_workers_fails(
    error: Exception, code: int, reason: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(ray_cluster, "resolve", fails(error))

    async def script(_: Engine, editor: Editor) -> None:
        answer = await editor.answer(editor.ask("attach"))
        assert not answer["success"]
        assert answer["body"]["error"]["id"] == code
        assert reason in answer["message"]

    run(script)
    assert "Traceback" in caplog.text


def test_a_source_that_fails_is_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    async def script(_: Engine, editor: Editor) -> None:
        fake = FakeDashboard()
        async with fake.running():
            failures = [TOO_MANY, ValueError("odd")]

            async def resolve(*_: object) -> DashboardLocation:
                if failures:
                    raise failures.pop()
                return DashboardLocation(fake.url)

            monkeypatch.setattr(ray_cluster, "resolve", resolve)
            # The session of a launched program continues while its cluster is not found.
            assert (await editor.launch(reach="paused"))["success"]
            await fake.asked(3)
            assert not failures

    async def start(program: DebuggeeProcess) -> None:
        program._emit(ev.DebuggeeStarted("program", 1))

    async def stop(program: DebuggeeProcess) -> None:
        program._emit(ev.DebuggeeExited(0))

    monkeypatch.setattr(DebuggeeProcess, "start", start)
    monkeypatch.setattr(DebuggeeProcess, "stop", stop)
    monkeypatch.setattr(engine_module, "DISCOVERY_RETRY_S", 0.001)
    run(script)


@pytest.mark.parametrize("submit", [False, True])
def test_launch_is_answered_when_the_program_cannot_be_started(
    submit: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(ray_cluster, "resolve", fails(OSError("the search continues")))
    monkeypatch.setattr(debuggee_job, "resolve", fails(TOO_MANY))
    monkeypatch.setattr(asyncio.BaseEventLoop, "subprocess_exec", fails(RuntimeError("odd")))

    async def script(_: Engine, editor: Editor) -> None:
        answer = await editor.launch(submit=submit)
        assert not answer["success"]
        assert answer["body"]["error"]["id"] == (4002 if submit else 4001)
        assert ("(Too many open files)" if submit else "(RuntimeError: odd)") in answer["message"]

    run(script)
    assert "Traceback" in caplog.text


def test_all_workers_are_asked_for_while_a_client_wants_them(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, ended = asyncio.Event(), asyncio.Event()

    async def watch_alive(_: RayCluster) -> None:
        asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async def script(_: Engine, editor: Editor) -> None:
        async with FakeDashboard().running() as fake:
            assert (await editor.answer(editor.ask("attach", dashboard=fake.url)))["success"]
            for _round in range(2):
                asked.clear()
                ended.clear()
                editor.ask("raydap/workers", all=True)
                await asyncio.wait_for(asked.wait(), WAIT)
                assert not ended.is_set()
                editor.ask("raydap/workers")
                await asyncio.wait_for(ended.wait(), WAIT)

    monkeypatch.setattr(RayCluster, "watch_alive", watch_alive)
    run(script)


def test_a_dial_that_fails_is_reported_like_a_worker_that_is_not_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(WorkerDialer, "dial", fails(ValueError("odd")))

    async def script(_: Engine, editor: Editor) -> None:
        editor.ask("attach", workers=["127.0.0.1:1"])
        await editor.next(lambda message: message.get("event") == "initialized")
        editor.ask("configurationDone")
        assert "ValueError: odd" in await editor.problem()

    run(script)


def test_files_that_cannot_be_looked_for_count_as_there(monkeypatch: pytest.MonkeyPatch) -> None:
    def exists(_: object) -> bool:
        raise ValueError("odd")

    async def script(engine: Engine, _: Editor) -> None:
        checked: asyncio.Queue[ev.Event] = asyncio.Queue()
        with monkeypatch.context() as patch:
            patch.setattr(os.path, "exists", exists)
            patch.setattr(engine, "_handle", checked.put_nowait)
            engine._check_files(effects.CheckFiles(("/a", "/b")))
            while isinstance(event := await asyncio.wait_for(checked.get(), WAIT), ev.Tick):
                pass
        assert event == ev.FilesChecked({"/a": True, "/b": True})

    run(script)


def test_an_effect_that_fails_costs_no_other_one(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise ValueError("odd")

    async def script(_: Engine, editor: Editor) -> None:
        with monkeypatch.context() as patch:
            patch.setitem(engine_module._PERFORM, effects.Log, fail)
            # The core logs bytes that are not DAP before it reports them to the user.
            editor.take(b"garbage")
        assert "[raydap 1001]" in await editor.problem()

    run(script)
    assert "an effect failed: Log" in caplog.text


def test_a_connection_that_comes_up_while_it_ends_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        engine = Engine()
        peers: list[Editor] = []
        up = asyncio.Event()

        async def dial(_: WorkerDialer, __: effects.DialWorker, on_message: Any, on_gone: Any, ___: Any) -> Peer:
            await up.wait()
            peers.append(Editor(on_message, on_gone))
            return peers[0]

        monkeypatch.setattr(WorkerDialer, "dial", dial)
        engine._dial_worker(effects.DialWorker(WorkerKey("w"), "127.0.0.1", 1))
        closing = asyncio.ensure_future(engine.close())
        # Closing the relay is the last step that close() starts.
        monkeypatch.setattr(engine._dialer, "close", lambda: _set(up))
        await asyncio.wait_for(closing, WAIT)
        await asyncio.wait_for(peers[0].wait_closed(), WAIT)

    asyncio.run(main())


async def _set(event: asyncio.Event) -> None:
    event.set()
