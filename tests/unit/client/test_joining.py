"""The session that a program joins, chosen among all that exist."""

import asyncio
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from raydap.client import joining, own_session, session_connections
from raydap.client.dap_connection import ConnectionEnded, RequestRefused, SessionError
from raydap.client.joining import JoinedSession, SessionTarget, is_same_cluster
from raydap.cluster.dashboard import dashboard_address
from raydap.errors import Code, Problem, ProblemError
from raydap.hub import connection_file, hub_address
from raydap.hub.connection_file import ConnectionInfo
from raydap.hub.hub_token import TokenError
from raydap.wire import envelope

HERE, THERE = "http://127.0.0.1:8265", "http://10.0.0.1:8265"


class FakeSession:
    """A session that answers `initialize` at once. `debugs` is its cluster; with a `fault` it cannot be used."""

    def __init__(self, debugs: str | None = None, fault: Any = None) -> None:
        self.debugs = debugs
        self.fault = fault
        self.is_open = False
        self.sent: list[tuple[str, Any]] = []

    async def connect(self, on_message: Callable[[bytes], None], on_gone: Callable[[str], None]) -> Any:
        if isinstance(self.fault, Exception):
            raise self.fault
        self._on_message, self._on_gone = on_message, on_gone
        self.is_open = True
        return self

    def send(self, body: bytes) -> None:
        asked = envelope.read(body)
        self.sent.append((asked.command, envelope.load(asked.arguments or b"{}")))
        if self.fault == "hangs":
            return
        if self.fault == "ends":
            asyncio.get_running_loop().call_soon(self._on_gone, "closed")
            return
        server = {"version": "0.1.0", **({} if self.debugs is None else {"debugs": self.debugs})}
        answered = {} if self.fault == "another version" else {"raydap": server}
        answer = envelope.response(1, asked.seq, asked.command, answered)
        asyncio.get_running_loop().call_soon(self._on_message, answer)

    def close(self) -> None:
        self.is_open = False

    async def wait_closed(self) -> None:
        assert not self.is_open


class FakeOwn:
    """A session of the program's own."""

    made: list[Any]
    fault: Any = None

    def __init__(self) -> None:
        self.connect = FakeSession(fault=FakeOwn.fault).connect
        self.is_closed = False
        FakeOwn.made.append(self)

    async def close(self) -> None:
        self.is_closed = True


@pytest.fixture(autouse=True)
def own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setattr(joining, "ANSWER_TIMEOUT_S", 0.05)
    monkeypatch.setattr(own_session, "OwnSession", FakeOwn)
    FakeOwn.made = []


@contextmanager
def there_are(sessions: dict[str, FakeSession]) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session_connections, "find", lambda kept: {name: one.connect for name, one in sessions.items()})
        yield


def find(
    sessions: dict[str, FakeSession], target: SessionTarget | None = None, environ: dict[str, str] | None = None
) -> JoinedSession:
    """Return the chosen session, and check that all others were closed."""
    environ = {"XDG_RUNTIME_DIR": os.environ["XDG_RUNTIME_DIR"], **(environ or {})}
    with there_are(sessions):
        chosen = asyncio.run(
            joining.find(target or SessionTarget(), lambda name, body: None, lambda reason: None, environ)
        )
    names = [joining._shown(name) for name, one in sessions.items() if one.is_open]
    assert names == ([] if chosen.kind == "own" else [chosen.name])
    return chosen


def hub(port: int, dashboard: str | None = None) -> str:
    """Write a connection file for a hub; return the hub's name."""
    info = ConnectionInfo("127.0.0.1", port, False, None, 0, dashboard=dashboard)
    connection_file.write(info)
    return info.url


EDITOR, OTHER = "/run/raydap/session-17.sock", "/run/raydap/session-18.sock"


def test_without_any_it_is_one_of_its_own() -> None:
    chosen = find({})
    assert (chosen.kind, chosen.name, chosen.is_active) == ("own", "raydap's own session", False)
    assert [chosen.own] == FakeOwn.made


def test_one_of_its_own_that_fails_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FakeOwn, "fault", "ends")
    with pytest.raises(ConnectionEnded):
        find({})
    assert FakeOwn.made[0].is_closed


def test_the_session_of_an_editor_is_joined() -> None:
    chosen = find({EDITOR: FakeSession(HERE)})
    assert (chosen.kind, chosen.name, chosen.is_active) == ("editor", "the session of the process 17", True)
    assert FakeOwn.made == []


def test_an_editor_that_debugs_nothing_yet_is_not() -> None:
    assert find({EDITOR: FakeSession()}).kind == "own"


def test_among_several_the_first_that_debugs_this_cluster() -> None:
    sessions = {EDITOR: FakeSession(THERE), OTHER: FakeSession(HERE), "ws://127.0.0.1:1/dap": FakeSession(HERE)}
    assert find(sessions).name == "the session of the process 17"
    assert find(sessions, SessionTarget(dashboard=HERE)).name == "the session of the process 18"
    assert find(sessions, SessionTarget(dashboard="localhost:8265")).name == "the session of the process 18"
    assert find(sessions, SessionTarget(dashboard="http://10.0.0.9:8265")).kind == "own"


@pytest.mark.parametrize("variable", ["RAY_API_SERVER_ADDRESS", "RAY_ADDRESS"])
def test_a_variable_of_ray_names_the_cluster(variable: str) -> None:
    """Otherwise a command would act on another cluster than the one that `raydap` alone names."""
    sessions = {EDITOR: FakeSession(THERE), OTHER: FakeSession(HERE)}
    assert find(sessions, environ={variable: HERE}).name == "the session of the process 18"
    assert find(sessions, environ={variable: "http://10.0.0.2:8265"}).kind == "own"
    assert find(sessions, SessionTarget(dashboard=THERE), {variable: HERE}).name == "the session of the process 17"
    assert find({hub(4711): FakeSession()}, environ={variable: HERE}).kind == "own"
    waiting = hub(4712, HERE)
    assert find({waiting: FakeSession()}, environ={variable: HERE}).name == f"the hub at {waiting}"


def test_the_name_of_ray_itself_leads_to_the_dashboard(monkeypatch: pytest.MonkeyPatch) -> None:
    async def resolve(dashboard: Any, environ: Any) -> Any:
        assert (dashboard, environ["RAY_ADDRESS"]) == (None, "10.0.0.1:6379")
        return dashboard_address.DashboardLocation(THERE)

    monkeypatch.setattr(dashboard_address, "resolve", resolve)
    sessions = {EDITOR: FakeSession(HERE), OTHER: FakeSession(THERE)}
    assert find(sessions, environ={"RAY_ADDRESS": "10.0.0.1:6379"}).name == "the session of the process 18"


def test_all_sessions_are_asked_at_once() -> None:
    """Each connect returns only after all others were called. One after the other would never end."""
    wanted, begun = 20, 0
    all_begun = asyncio.Event()

    class Gathering(FakeSession):
        async def connect(self, on_message: Callable[[bytes], None], on_gone: Callable[[str], None]) -> Any:
            nonlocal begun
            begun += 1
            if begun == wanted:
                all_begun.set()
            await all_begun.wait()
            return await super().connect(on_message, on_gone)

    sessions: dict[str, FakeSession] = {f"/run/raydap/session-{number}.sock": Gathering(HERE) for number in range(20)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(joining, "ANSWER_TIMEOUT_S", 60.0)
        assert find(sessions).name == "the session of the process 0"


def test_a_forwarded_port_without_a_hub_has_the_time_limit_of_an_answer() -> None:
    class Hanging(FakeSession):
        async def connect(self, on_message: Callable[[bytes], None], on_gone: Callable[[str], None]) -> Any:
            await asyncio.Event().wait()

    assert find({"ws://127.0.0.1:1/dap": Hanging(HERE), EDITOR: FakeSession(HERE)}).kind == "editor"


def test_events_of_sessions_that_are_not_taken_go_nowhere() -> None:
    heard: list[str] = []
    ended = FakeSession(fault="ends")
    with there_are({OTHER: ended, EDITOR: FakeSession(HERE)}):
        asyncio.run(joining.find(SessionTarget(), lambda name, body: None, heard.append, {}))
    assert heard == []


def test_a_hub_that_waits_is_taken_if_no_session_debugs_the_cluster() -> None:
    waiting = hub(4711)
    assert find({waiting: FakeSession()}).name == f"the hub at {waiting}"
    assert find({waiting: FakeSession()}).is_active is False
    assert find({waiting: FakeSession(), EDITOR: FakeSession(HERE)}).kind == "editor"
    # It is not known which cluster the hub would debug.
    assert find({waiting: FakeSession()}, SessionTarget(dashboard=HERE)).kind == "own"


def test_a_hub_waits_for_its_own_cluster() -> None:
    here, there = hub(4711, HERE), hub(4712, THERE)
    sessions = {here: FakeSession(), there: FakeSession()}
    assert find(sessions).name == f"the hub at {here}"
    assert find(sessions, SessionTarget(dashboard=THERE)).name == f"the hub at {there}"
    assert find(sessions, SessionTarget(dashboard="10.0.0.1:8266")).kind == "own"
    # Its connection file no longer exists.
    assert find({"ws://127.0.0.1:9/dap": FakeSession()}).kind == "own"


UNUSABLE = [
    "hangs",
    "ends",
    "another version",
    ConnectionRefusedError("refused"),
    TimeoutError("no connection within 5 s"),
    ProblemError(Problem(Code.HUB_REFUSED, "The hub has refused the token.")),
]


@pytest.mark.parametrize("fault", UNUSABLE, ids=repr)
def test_a_session_that_cannot_be_used_is_passed_over(fault: Any) -> None:
    assert find({EDITOR: FakeSession(HERE, fault), OTHER: FakeSession(HERE)}).name == "the session of the process 18"


NAMED = SessionTarget(url="tcp://127.0.0.1:4711")


def find_named(
    session: FakeSession, target: SessionTarget = NAMED, environ: dict[str, str] | None = None
) -> JoinedSession:
    async def dial(address: Any, token: Any, authority: Any, *callbacks: Any) -> Any:
        assert authority == target.authority
        return await session.connect(*callbacks)

    with pytest.MonkeyPatch.context() as patch, there_are({EDITOR: FakeSession(fault=AssertionError("not asked for"))}):
        patch.setattr(hub_address, "dial", dial)
        nothing = (lambda name, body: None, lambda reason: None)
        return asyncio.run(joining.find(target, *nothing, environ or {"RAYDAP_TOKEN": "open-sesame"}))


def test_a_hub_that_is_named_is_the_only_choice(tmp_path: Path) -> None:
    chosen = find_named(FakeSession(HERE))
    assert (chosen.kind, chosen.name, chosen.token) == ("hub", "the hub at tcp://127.0.0.1:4711", "open-sesame")
    # The WebSocket handshake has already shown the token.
    assert find_named(FakeSession(), SessionTarget(url="127.0.0.1:4711", authority="ca.pem")).token is None
    file = tmp_path / "token"
    file.write_text("from-a-file\n")
    file.chmod(0o600)
    assert find_named(FakeSession(), SessionTarget(url=NAMED.url, token_file=str(file))).token == "from-a-file"


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        ("ends", ConnectionEnded),
        ("another version", SessionError),
        (ConnectionRefusedError("refused"), ConnectionRefusedError),
        (ProblemError(Problem(Code.HUB_REFUSED, "No.")), ProblemError),
    ],
    ids=repr,
)
def test_a_named_hub_that_cannot_be_used_is_an_error(fault: Any, expected: type[Exception]) -> None:
    session = FakeSession(HERE, fault)
    with pytest.raises(expected):
        find_named(session)
    assert not session.is_open


def test_a_wrong_url_and_a_missing_token_file_are_errors(tmp_path: Path) -> None:
    with pytest.raises(ProblemError):
        find_named(FakeSession(), SessionTarget(url="ftp://h:1"))
    with pytest.raises(TokenError):
        find_named(FakeSession(), SessionTarget(url=NAMED.url, token_file=str(tmp_path / "none")))


class Beginning(FakeSession):
    """A session that answers `attach` after `configurationDone`, and refuses the requests in `refused`."""

    def __init__(self, refused: str = "") -> None:
        super().__init__(HERE)
        self.refused = refused
        self.held = 0

    def send(self, body: bytes) -> None:
        asked = envelope.read(body)
        self.sent.append((asked.command, envelope.load(asked.arguments or b"{}")))

        def say(answer: bytes) -> None:
            asyncio.get_running_loop().call_soon(self._on_message, answer)

        if asked.command == self.refused:
            say(envelope.failure(1, asked.seq, asked.command, "No."))
        elif asked.command == "attach":
            self.held = asked.seq
            say(envelope.event(1, "initialized"))
        else:
            say(envelope.response(1, asked.seq, asked.command))
            if asked.command == "configurationDone":
                say(envelope.response(1, self.held, "attach"))


def begin(played: Beginning, token: str | None = None) -> None:
    async def run() -> None:
        session = JoinedSession("hub", "a hub", lambda name, body: None, lambda reason: None)
        session.token = token
        await session.connection.open(played.connect)

        async def configure() -> None:
            await session.connection.request("setBreakpoints")

        try:
            await session.begin("attach", {"join": True}, configure)
        finally:
            await session.leave()

    asyncio.run(run())


def test_breakpoints_are_set_before_workers_run() -> None:
    played = Beginning()
    begin(played)
    # On a hub that debugged nothing before, the program ends the session that it has begun.
    assert played.sent == [
        ("attach", {"join": True}),
        ("setBreakpoints", {}),
        ("configurationDone", {}),
        ("disconnect", {"terminateDebuggee": True}),
    ]
    assert not played.is_open
    with_token = Beginning()
    begin(with_token, "open-sesame")
    assert with_token.sent[0] == ("attach", {"join": True, "token": "open-sesame"})


@pytest.mark.parametrize("refused", ["attach", "setBreakpoints", "configurationDone"])
def test_a_session_that_does_not_begin_can_still_be_left(refused: str) -> None:
    played = Beginning(refused)
    with pytest.raises(RequestRefused, match="No"):
        begin(played)
    assert "disconnect" in [command for command, _ in played.sent]
    assert not played.is_open


def test_the_same_cluster_under_other_names() -> None:
    assert is_same_cluster("http://localhost:8265", "127.0.0.1:8265/")
    assert not is_same_cluster("http://127.0.0.1:8265", "http://127.0.0.1:8266")
    assert not is_same_cluster("http://127.0.0.1", "http://127.0.0.1:8265")
    assert is_same_cluster("http://h:99999", "http://h:99999")
    assert not is_same_cluster("http://h:99999", "http://h:88888")
