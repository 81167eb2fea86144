"""The files, folders and sockets that raydap makes or reads in places where other users may write.

Each row uses one of them as raydap does. The tests play the other user.
"""

import asyncio
import base64
import hashlib
import json
import os
import shutil
import socket
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from raydap import private_listener
from raydap.cluster.dashboard import ray_token
from raydap.cluster.relay import relay_actor
from raydap.cluster.survey import node_survey
from raydap.errors import ProblemError
from raydap.hub import connection_file, hub_token
from raydap.hub.connection_file import ConnectionInfo
from raydap.inworker import leftover_sockets, private_folders, start_files
from raydap.inworker.agent_socket import AgentSocket
from raydap.inworker.private_sockets import listen_privately
from raydap.inworker.raydap_calls import call_raydaps
from raydap.report.report_files import ReportFiles
from raydap.runtime.clients import Clients
from raydap.runtime.session_socket import SessionSocket
from raydap.terminal import folded_answers, kept_session
from raydap.terminal.debugger import prompt
from raydap.transport import runtime_folder, unix
from support.report_records import report

SECRET = "a-secret-of-the-victim"
FORGED = "made-by-the-attacker"

TREASURE = "what the attacker is after"

PACKED = base64.b85encode(zlib.compress(json.dumps({"at_start/sitecustomize.py": "'ours'"}).encode())).decode()

HUB = ConnectionInfo("127.0.0.1", 2, False, SECRET, os.getpid())


@dataclass(frozen=True)
class Place:
    """Folders of one machine: one that all users share, one of the victim, and one of the attacker."""

    shared: Path
    home: Path
    lair: Path
    victim: int

    @property
    def treasure(self) -> Path:
        """Return a file of the victim, which raydap must not read, write or change."""
        return self.home / "treasure"

    def make_treasure(self) -> None:
        self.treasure.write_text(TREASURE)
        self.treasure.chmod(0o640)

    def check_treasure(self) -> None:
        status = self.treasure.stat()
        assert self.treasure.read_text() == TREASURE
        assert (status.st_uid, status.st_mode & 0o777) == (self.victim, 0o640)
        assert not (self.home / "new").exists()


@dataclass(frozen=True)
class Row:
    """One use of a file, folder or socket."""

    name: str
    path: Callable[[], str]
    """The path that other users attack, below the shared folder."""
    use: Callable[[Path, Path], object]
    """Act as raydap in the folder `shared`, for the user with the folder `home`; return what raydap believes."""
    forged: bytes = FORGED.encode()
    """Content that raydap would believe."""
    is_named: bool = False
    """The user has named the file, so its content counts."""
    needs: bool = False
    """The file must exist, because raydap only reads it."""


def _hub_file() -> str:
    return f"raydap/hub-{HUB.pid}-{HUB.port}.json"


def _keep_hub(environ: dict[str, str]) -> object:
    path = connection_file.write(HUB, environ=environ)
    try:
        return connection_file.all_hubs(environ)
    finally:
        connection_file.remove(path, HUB)


def _use_runtime_folder(shared: Path, home: Path) -> object:
    return _keep_hub({"XDG_RUNTIME_DIR": str(shared), "HOME": str(home)})


def _use_home(shared: Path, home: Path) -> object:
    return _keep_hub({"HOME": str(shared)})


def _use_session_socket(shared: Path, home: Path) -> object:
    async def main() -> None:
        environ = {"XDG_RUNTIME_DIR": str(shared), "HOME": str(home)}
        served = await SessionSocket.serve(Clients(lambda event: None), environ)
        if served is not None:
            served.close()

    return asyncio.run(main())


def _use_log(shared: Path, home: Path) -> object:
    path = runtime_folder.directory({"XDG_RUNTIME_DIR": str(shared), "HOME": str(home)}) / "kept-session.log"
    os.close(kept_session.open_log(path))
    return None


def _use_connection_file(shared: Path, home: Path) -> object:
    path = connection_file.write(HUB, shared / "hub.json")
    connection_file.remove(path, msgspec.structs.replace(HUB, port=3))
    return None


def _read_connection_file(shared: Path, home: Path) -> object:
    return connection_file.read(shared / "hub.json")


def _use_hub_token(shared: Path, home: Path) -> object:
    return hub_token.read(str(shared / "token"))


def _use_ray_token(shared: Path, home: Path) -> object:
    return ray_token.find({"RAY_AUTH_TOKEN_PATH": str(shared / "auth_token")})


def _use_report(shared: Path, home: Path) -> object:
    files = ReportFiles(*(str(shared / f"report.{kind}") for kind in ("html", "json", "trace")))
    files.check()
    files.write(report(), [])
    return None


def _use_svg(shared: Path, home: Path) -> object:
    folded_answers._write(str(shared / "stacks.svg"), "<svg/>")
    return None


def _use_history(shared: Path, home: Path) -> object:
    history = prompt._history({"XDG_STATE_HOME": str(shared)})
    history.append_string(SECRET)
    return list(history.load_history_strings())


def _start_files() -> str:
    return f"raydap-{os.getuid()}-{hashlib.sha256(PACKED.encode()).hexdigest()[:16]}/at_start/sitecustomize.py"


def _use_start_files(shared: Path, home: Path) -> object:
    folder = Path(start_files.unpack_once(PACKED))
    try:
        return folder.joinpath("sitecustomize.py").read_text()
    finally:
        if shared not in folder.parents:
            shutil.rmtree(folder.parent)


def _use_private_folder(shared: Path, home: Path) -> object:
    folder = Path(private_folders.private_folder("raydap-job-"))
    if shared not in folder.parents:
        folder.rmdir()
    return None


def _use_driver_folder(shared: Path, home: Path) -> object:
    async def main() -> None:
        unix.PrivateListener("raydap-call-1-1", socket.socket.close).close()

    return asyncio.run(main())


def _listen(shared: Path, home: Path) -> object:
    listening = private_listener.listen(str(shared / "raydap-call-1-1"))
    listening.close()
    return None


def _listen_over_relay(shared: Path, home: Path) -> object:
    async def main() -> None:
        watch = relay_actor.AgentWatch(str(shared), "raydap-call-1-1", lambda hello, connection: 1)
        try:
            await watch.begin()
        finally:
            watch.close()

    return asyncio.run(main())


def _serve_agent(shared: Path, home: Path) -> object:
    served = AgentSocket()
    try:
        listen_privately(served, str(shared / "raydap-7"), 8)
    finally:
        served.close()
    return None


def _call_raydaps(shared: Path, home: Path) -> object:
    def call(path: str) -> bool:
        calling = AgentSocket()
        try:
            calling.connect(path)
        finally:
            calling.close()
        return True

    return call_raydaps(call, str(shared))


def _find_agents(shared: Path, home: Path) -> object:
    path = str(shared / "raydap-7")

    async def main() -> None:
        with suppress(FileNotFoundError, ConnectionRefusedError):
            (await unix.dial(path, 10.0)).close()
        assert not await relay_actor.is_served(path)

    try:
        return asyncio.run(main())
    finally:
        leftover_sockets.remove_if_ended(path)


def _look_for_sources(shared: Path, home: Path) -> object:
    found = node_survey._Files([{"path": "/app/a.py", "digest": ""}]).places([str(shared)], [])
    return found, node_survey._digest(str(shared / "a.py"))


TABLE = (
    Row(
        "runtime folder",
        _hub_file,
        _use_runtime_folder,
        msgspec.json.encode(ConnectionInfo(FORGED, 2, False, FORGED, 0)),
    ),
    Row(
        "runtime folder in HOME",
        lambda: _hub_file().replace("raydap/", ".local/share/raydap/runtime/"),
        _use_home,
        msgspec.json.encode(ConnectionInfo(FORGED, 2, False, FORGED, 0)),
    ),
    Row("session socket", lambda: f"raydap/session-{os.getpid()}.sock", _use_session_socket),
    Row("log of a kept session", lambda: "raydap/kept-session.log", _use_log),
    Row("connection file that is named", lambda: "hub.json", _use_connection_file),
    Row("connection file that is read", lambda: "hub.json", _read_connection_file, is_named=True, needs=True),
    Row("token file of a hub", lambda: "token", _use_hub_token, needs=True),
    Row("token file of Ray", lambda: "auth_token", _use_ray_token, is_named=True, needs=True),
    Row("report", lambda: "report.html", _use_report),
    Row("data of a report", lambda: "report.json", _use_report),
    Row("file beside a report", lambda: "report.html.part", _use_report),
    Row("picture of stacks", lambda: "stacks.svg", _use_svg),
    Row("history of a prompt", lambda: "raydap/debug-history", _use_history, f"\n# 1\n+{FORGED}\n".encode()),
    Row("files of an agent", _start_files, _use_start_files),
    Row("folder of a job", lambda: "", _use_private_folder),
    Row("folder of a driver", lambda: "", _use_driver_folder),
    Row("socket of raydap", lambda: "raydap-call-1-1", _listen),
    Row("socket of a relay", lambda: "raydap-call-1-1", _listen_over_relay),
    Row("socket of an agent", lambda: "raydap-7", _serve_agent),
    Row("sockets that an agent calls", lambda: "raydap-call-1-1", _call_raydaps),
    Row("sockets that may be agents", lambda: "raydap-7", _find_agents),
    Row("sources that doctor compares", lambda: "a.py", _look_for_sources, is_named=True),
)

REFUSALS = (OSError, ProblemError, hub_token.TokenError, ValueError)
"""The errors by which raydap refuses what it finds."""
