"""Lets raydap debug this process over a Unix socket, without breakpoint() and without a debugpy adapter.

Runs in workers and drivers, from before their first line of code. Its source travels by value, so it needs nothing
but Python and, once it debugs, debugpy. The process costs one thread that waits; debugpy is imported only when raydap
wants to debug.

**The connection.** Either this process calls raydap when it begins (`call`), or raydap connects to its socket later
(`serve`). Both ends check that the other has the same user id. This process sends one line first, its `hello`; raydap
answers with one line. If that asks for a debugger, this process says in a second line whether it has one. Then DAP
follows, spoken by pydevd itself. If it asks for the stack, and for what it `waits`, or for the value of an expression,
this process sends that and ends the connection.

**One debugger at a time.** pydevd has one debugger object in a process. While somebody debugs, `hello` says who. If
Ray's own breakpoint() came first, there is an adapter already, and `hello` has its port.
"""

from __future__ import annotations

import atexit
import errno
import os
import sys
import time
from _thread import RLock, allocate_lock

from .agent_children import follow_children
from .agent_lines import (
    hangs_up,
    read_line,
    wait_unless_stopped,
    write_line,
)
from .agent_socket import AgentSocket
from .breakpoint_hooks import BreakpointHooks, global_debugger
from .leftover_sockets import remove_some
from .light_start import CHANGE_TIMEOUT_S, begin_in_child, is_loaded, load_rest, start_thread
from .private_sockets import listen_privately, peer_is_trusted, peer_pid
from .raydap_calls import call_raydaps

TYPE_CHECKING = False
if TYPE_CHECKING:
    import threading
    from typing import Any

    from .agent_session import Session

VERSION = 1
"""The version of these lines. raydap leaves a process alone whose agent has another one."""

CALL_TIMEOUT_S = 1.0
"""Seconds until the process goes on if nobody takes its call, so that a dead raydap delays no worker for long."""

ANSWER_TIMEOUT_S = 20.0
"""Seconds for raydap's answer. If raydap ends meanwhile, the process goes on at once."""

CONFIGURED_TIMEOUT_S = 30.0
"""Seconds until the process goes on, although raydap has not set its breakpoints yet."""

LEAVE_TIMEOUT_S = 3.0
"""Seconds until a client is told that another one debugs this process. It may be the client's own last session, whose
end takes half a second (measured)."""

ACCEPT_INTERVAL_S = 0.5
"""Seconds until a process without a free descriptor looks again whether it can take a connection."""

OUT_OF_RESOURCES = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
"""Errors of accept(2) while a process is short of descriptors or memory. The connection waits."""


class Agent:
    """The one agent of a process. `identity` is what `hello` says of it; `raydap` is the path that its children call.
    `changing` is held while a session begins or ends. `forked`: the process is a forked child."""

    def __init__(self, folder: str, identity: dict[str, Any], raydap: str) -> None:
        self.folder = folder
        self.raydap = raydap
        self.forked = False
        self._reset(identity)

    def _reset(self, identity: dict[str, Any]) -> None:
        self.identity = identity
        self._pid = os.getpid()
        self.session: Session | None = None
        self.changing = RLock()
        self._lock = allocate_lock()
        self.is_served = False
        self._sockets: set[AgentSocket] = set()

    def begin(self, raydap: str) -> None:
        """Listens, and calls the raydap at this path, or without one those that listen in the folder, unless somebody
        debugs the process already. Returns when the breakpoints of the one that debugs it are set."""
        path = os.path.join(self.folder, f"raydap-{os.getpid()}")
        # First, because a raydap may find the socket at once, and hello has to say it.
        self.identity = {**self.identity, "socket": path}
        self._serve(path)
        remove_some(self.folder)
        session = self.session
        if session is None:
            call_raydaps(self.call, self.folder, raydap, wait=not self.forked)
        else:
            # That raydap has found the socket already.
            session.configured.wait(CONFIGURED_TIMEOUT_S)

    def call_at_breakpoint(self) -> bool:
        """Call raydap because this process has reached breakpoint(); return whether raydap debugs it now."""
        self.identity = {**self.identity, "stops": True}
        try:
            return call_raydaps(self.call, self.folder, self.raydap, wait=False) != ""
        finally:
            self.identity = {**self.identity, "stops": False}

    def identity_of_child(self) -> dict[str, Any]:
        """The identity of a process that this one starts."""
        parent = self._key(self.identity) if self.session is None else self.session.key
        own = {"worker_type": "CHILD", "worker_id": "", "parent": parent, "waits": False, "stops": False}
        return {**self.identity, **own}

    def _key(self, identity: dict[str, Any]) -> str:
        """By what raydap knows a process that has said this of itself (runtime/agents.py, Hello.row)."""
        return identity.get("worker_id") or f"pid-{self._pid}"

    def leave_parent(self) -> Session | None:
        """In a forked child: leaves the sockets and the session to its parent; returns that session, if there is one.
        The child is as before `begin`, with an identity of its own."""
        session, identity = self.session, self.identity_of_child()
        for each in self._sockets:
            each.drop()
        if session is not None and session.hooks is not None:
            session.hooks.restore()
        self.forked = True
        begin_in_child()
        self._reset(identity)
        return session

    def _serve(self, path: str) -> None:
        """Listens, in a thread, on a socket that only this user can use."""
        listener = AgentSocket()
        self._sockets.add(listener)
        listen_privately(listener, path, 8)
        start_thread(self._accept, listener)
        self.is_served = True

    def stop_importing(self) -> None:
        """Wait while a thread of the agent imports modules, and let none begin to, because the program ends.

        Python ends such a thread in the middle, and would then wait for its import lock forever, or crash.
        """
        self.changing.acquire(timeout=CHANGE_TIMEOUT_S)

    def load(self) -> None:
        """Run the rest of the agent's code. A fork in another thread waits for it."""
        with self.changing:
            load_rest()

    def call(self, path: str) -> bool:
        """Asks raydap whether it wants to debug this process, and waits until its breakpoints are set. Returns whether
        it debugs it. Does not wait for a stopped raydap. Raises OSError if no raydap listens at this path."""
        connection = AgentSocket()
        connection.settimeout(CALL_TIMEOUT_S)
        try:
            connection.connect(path)
        except OSError:
            connection.close()
            raise
        pid = peer_pid(connection)
        configured = self._begin_to_talk(connection, pid)
        if configured is not None:
            wait_unless_stopped(configured, pid, ANSWER_TIMEOUT_S + CONFIGURED_TIMEOUT_S)
        return self.session is not None

    def _accept(self, listener: AgentSocket) -> None:
        while True:
            try:
                connection = listener.accept()
            except OSError as error:
                if error.errno in OUT_OF_RESOURCES:
                    time.sleep(ACCEPT_INTERVAL_S)
                    continue
                listener.close()  # The program has closed all descriptors.
                return
            try:
                self._begin_to_talk(connection, peer_pid(connection))
            except Exception as error:
                # It has too many threads, or ends and can start none any more.
                self._sockets.discard(connection)
                connection.close()
                if is_ending():
                    listener.close()
                    return
                if not isinstance(error, (OSError, RuntimeError)):
                    log_exception()

    def _begin_to_talk(self, connection: AgentSocket, pid: int) -> threading.Event | None:
        """Greet raydap, the process with this pid, and handle its answer in a thread.

        Return an event that is set when this process may continue. Return None if raydap hangs up after the greeting,
        as when it only asks for the identity; then the rest of the code is not loaded.
        """
        key = ""
        if not is_loaded():
            key = self._greet_alone(connection, pid)
            if not key:
                return None
            self.load()
        import threading

        configured = threading.Event()
        start_thread(self._talk, connection, configured, key)
        return configured

    def _greet_alone(self, connection: AgentSocket, pid: int) -> str:
        """Greet and return the result of `_greet`, "" if raydap hangs up after it."""
        self._sockets.add(connection)
        try:
            key = self._greet(connection)
            if key and not hangs_up(connection, pid):
                return key
        except OSError:
            pass  # raydap has gone.
        self._sockets.discard(connection)
        connection.close()
        return ""

    def _talk(self, connection: AgentSocket, configured: threading.Event, key: str) -> None:
        """Handle one connection. Set `configured` when the process may continue, also after an error.

        `key` is the result of `_greet`, "" if the connection was not greeted yet.
        """
        self._sockets.add(connection)
        try:
            key = key or self._greet(connection)
            if key:
                self._answer(connection, configured, key)
        except OSError:
            pass  # raydap has gone.
        except Exception:
            # A process that ends can begin no thread any more, and needs no debugger.
            if not is_ending():
                log_exception()
        finally:
            configured.set()
            self._sockets.discard(connection)
            connection.close()

    def _greet(self, connection: AgentSocket) -> str:
        """Send `hello` and return its key (`_key`). Return "" if the peer belongs to another user."""
        if not peer_is_trusted(connection):
            return ""
        current = self.session
        if current is not None:
            # A client that comes back at once is not told that it is still there.
            current.left.wait(LEAVE_TIMEOUT_S)
        holder = "" if self.session is None else self.session.client
        hello = {"raydap": VERSION, **self.identity, "pid": os.getpid(), "holder": holder, "port": self._port()}
        hello["calls"] = os.path.basename(self.raydap)
        connection.settimeout(ANSWER_TIMEOUT_S)
        write_line(connection, hello)
        return self._key(hello)

    def _answer(self, connection: AgentSocket, configured: threading.Event, key: str) -> None:
        """Read raydap's line, and send the stacks or a value, or run a session."""
        from .agent_session import Session
        from .agent_threads import hide_threads, show_threads
        from .running_values import evaluate_running
        from .stack_reader import as_json
        from .thread_waits import read_waits

        connection.settimeout(ANSWER_TIMEOUT_S)
        answer = read_line(connection)
        if answer.get("stack") is True:
            connection.sendall(as_json(read_waits(answer.get("waits") is True)).encode())
            return
        if isinstance(answer.get("evaluate"), str):
            connection.sendall(evaluate_running(answer["evaluate"], float(answer["seconds"])).encode())
            return
        session = Session(connection, str(answer.get("client", "raydap")), key, configured)
        if answer.get("debug") is not True or self._port() or not self._claim(session):
            return
        try:
            with self.changing:
                show_threads()
                session.hooks = hooks = BreakpointHooks(current_debugger)
                problem = session.start(hooks)
            if problem:
                write_line(connection, {"error": problem})
            else:
                session.run(hooks, self.changing)
        finally:
            hide_threads()
            self.session = None
            session.left.set()

    def _port(self) -> int:
        # In a forked child Ray would never answer, and has no adapter.
        return 0 if self.session is not None or self.forked else adapter_port()

    def _claim(self, session: Session) -> bool:
        with self._lock:
            if self.session is None:
                self.session = session
            return self.session is session


def adapter_port() -> int:
    """The port of the adapter that Ray's breakpoint() has started in this process, which no agent debugs; 0 if there
    is none.

    Ray ends a process at once, with exit code 1, that asks it for the port after its shutdown. So it is asked only if
    debugpy listens.
    """
    api = sys.modules.get("debugpy.server.api")
    ray: Any = sys.modules.get("ray")
    worker: Any = getattr(getattr(getattr(ray, "_private", None), "worker", None), "global_worker", None)
    # debugpy 1.8.0 has no such mark.
    listens = getattr(getattr(api, "listen", None), "called", False) or global_debugger() is not None
    if not listens or not getattr(worker, "connected", False):
        return 0
    port = getattr(worker, "debugger_port", 0)
    return port if isinstance(port, int) else 0


def log_exception() -> None:
    """On standard error, which Ray brings to the driver: the process runs on undebugged, and somebody has to know."""
    import traceback

    sys.stderr.write("raydap cannot debug this process: " + traceback.format_exc().strip().rpartition("\n")[2] + "\n")


def is_ending() -> bool:
    """Return whether the program has ended, and Python waits for its other threads."""
    threading: Any = sys.modules.get("threading")
    return threading is not None and not threading.main_thread().is_alive()


AGENT: Agent | None = None


def load() -> None:
    """Run the rest of the agent's code."""
    if AGENT is None:
        load_rest()
    else:
        AGENT.load()


def current_debugger() -> Any:
    """pydevd's debugger object while raydap debugs this process, else None."""
    session = None if AGENT is None else AGENT.session
    return None if session is None else session.debugger


def start_without_socket(folder: str, identity: dict[str, Any], raydap: str = "") -> Agent:
    """The agent of this process, which cannot be called yet: raydap finds no socket under the path that it says."""
    global AGENT
    if AGENT is None:
        AGENT = Agent(folder, {**identity, "socket": os.path.join(folder, f"raydap-{os.getpid()}")}, raydap)
        atexit.register(AGENT.stop_importing)
        follow_children(AGENT)
    return AGENT


def start(folder: str, identity: dict[str, Any], raydap: str) -> None:
    """Starts the agent of this process, once for each folder, which is for its socket. `raydap` is the path to call, ""
    if none is known."""
    agent = start_without_socket(folder, identity, raydap)
    if not (agent.is_served and agent.folder == folder):
        agent.folder, agent.identity = folder, identity
        agent.begin(raydap)
