"""The agent of a process: lets raydap debug it over a Unix socket, without breakpoint() or a debugpy adapter.

Runs in workers and drivers, starting before their first line of code. Its source is sent by value, so it needs only
Python and, to debug, debugpy. It costs the process one waiting thread. debugpy is imported only when raydap wants to
debug.

**The connection.** Either this process calls raydap when it begins (`call`), or raydap connects to the agent's socket
later. Both ends check the user id of the other. This process sends one line first, its `hello`, and raydap answers with
one line:

- If raydap requests a debugger, this process sends a second line, whose `error` is "" or the reason why there is no
  debugger. Then pydevd itself speaks DAP on the connection.
- If raydap requests the stacks (with `waits` also what each thread waits for), the value of an expression, or the
  result of an expression of its own (`query`), this process sends the result and closes the connection.

**One debugger at a time.** pydevd has one debugger object in a process. While a client debugs the process, `hello`
contains the client's name. If Ray's own breakpoint() came first, an adapter already exists, and `hello` contains its
port.

The design is in docs/design/agents.md.
"""

from __future__ import annotations

import atexit
import errno
import os
import sys
import time
from _thread import RLock, allocate_lock

from .agent_children import follow_children
from .agent_lines import hangs_up, read_line, wait_unless_stopped, write_line
from .agent_socket import AgentSocket
from .breakpoint_hooks import global_debugger
from .leftover_sockets import remove_some
from .light_start import CHANGE_TIMEOUT_S, begin_in_child, is_loaded, load_rest, start_thread
from .private_sockets import listen_privately, peer_is_trusted, peer_pid
from .raydap_calls import call_raydaps
from .replaced_functions import DETACHED, restore

TYPE_CHECKING = False
if TYPE_CHECKING:
    import threading
    from collections.abc import Callable
    from typing import Any

    from .agent_session import AgentSession

VERSION = 1
"""Version of the lines before DAP. raydap leaves a process alone if its agent has another version."""

CALL_TIMEOUT_S = 1.0
"""Seconds for raydap to accept a call. The limit keeps a dead raydap from delaying a worker for long."""

ANSWER_TIMEOUT_S = 20.0
"""Seconds for raydap's answer to `hello`. If raydap ends earlier, the process continues at once."""

CONFIGURED_TIMEOUT_S = 30.0
"""Seconds for raydap to set its breakpoints. After that the process continues without them."""

LEAVE_TIMEOUT_S = 3.0
"""Seconds to wait for the end of the current session before `hello` names its client. The client that connects may be
the same one: the end of its last session takes half a second (measured)."""

ACCEPT_INTERVAL_S = 0.5
"""Seconds between attempts to accept a connection while the process has no free descriptor."""

OUT_OF_RESOURCES = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
"""Errors of accept(2) while a process is short of descriptors or memory. The connection stays pending."""


class Agent:
    """The agent of a process. A process has at most one."""

    def __init__(self, folder: str, identity: dict[str, Any], raydap: str) -> None:
        self.folder = folder
        """The folder of the agent's socket."""
        self.raydap = raydap
        """The path of the raydap that child processes call, "" if there is none."""
        self.forked = False
        """Whether this process is a forked child."""
        self.after_session: Callable[[], None] = lambda: None
        """Called when a session has ended and its functions are restored; Forks sets it."""
        self._reset(identity)

    def _reset(self, identity: dict[str, Any]) -> None:
        self.identity = identity
        """What `hello` reports about the process (runtime/agent_connections.py, Hello)."""
        self._pid = os.getpid()
        self.session: AgentSession | None = None
        """The session that debugs the process or is being started, None without one."""
        self.changing = RLock()
        """Held while a session begins or ends, while modules are loaded, and during a fork."""
        self._lock = allocate_lock()
        self.is_served = False
        self._sockets: set[AgentSocket] = set()
        """All open sockets of the agent. A forked child closes its copies."""

    def begin(self, raydap: str) -> None:
        """Listen, call raydap, and return when the breakpoints are set if a raydap debugs this process.

        Call the raydap at the path `raydap`, or without a path the raydaps that listen in the folder. Do not call if a
        raydap has already started a session.
        """
        path = os.path.join(self.folder, f"raydap-{os.getpid()}")
        # A raydap may connect as soon as the socket exists, and `hello` must contain its path.
        self.identity = {**self.identity, "socket": path}
        self._serve(path)
        remove_some(self.folder)
        session = self.session
        if session is None:
            call_raydaps(self.call, self.folder, raydap, wait=not self.forked)
        else:
            # A raydap has already found the socket.
            session.configured.wait(CONFIGURED_TIMEOUT_S)

    def call_at_breakpoint(self) -> bool:
        """Call raydap because this process has reached breakpoint(); return whether raydap debugs it now."""
        self.identity = {**self.identity, "stops": True}
        try:
            return call_raydaps(self.call, self.folder, self.raydap, wait=False) != ""
        finally:
            self.identity = {**self.identity, "stops": False}

    def identity_of_child(self) -> dict[str, Any]:
        """Return the identity of a process that this one starts."""
        parent = self._key(self.identity) if self.session is None else self.session.key
        own = {"worker_type": "CHILD", "worker_id": "", "parent": parent, "waits": False, "stops": False}
        return {**self.identity, **own}

    def _key(self, identity: dict[str, Any]) -> str:
        """Return raydap's key for a process with this identity (runtime/agent_connections.py, Hello.row)."""
        return identity.get("worker_id") or f"pid-{self._pid}"

    def leave_parent(self) -> AgentSession | None:
        """Separate this forked child from its parent's sockets and session; return that session or None.

        The agent is then as before `begin`, with an identity of its own.
        """
        session, identity = self.session, self.identity_of_child()
        for each in self._sockets:
            each.drop()
        if session is not None:
            restore(None, DETACHED)
        self.forked = True
        begin_in_child()
        self._reset(identity)
        return session

    def _serve(self, path: str) -> None:
        """Listen in a new thread, on a socket that only this user can use."""
        listener = AgentSocket()
        self._sockets.add(listener)
        listen_privately(listener, path, 8)
        start_thread(self._accept, listener)
        self.is_served = True

    def stop_importing(self) -> None:
        """Wait until no thread of the agent imports modules, and let none begin to; called at the program's end.

        Python ends such a thread in the middle, and then waits forever for its import lock, or crashes.
        """
        self.changing.acquire(timeout=CHANGE_TIMEOUT_S)

    def load(self) -> None:
        """Run the rest of the agent's code. A fork in another thread waits for it."""
        with self.changing:
            load_rest()

    def call(self, path: str) -> bool:
        """Call the raydap at this path, wait for its breakpoints, and return whether it debugs this process.

        Do not wait for a stopped raydap. Raise OSError if no raydap listens at this path.
        """
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
                # The process has too many threads, or is ending and cannot start any.
                self._sockets.discard(connection)
                connection.close()
                if is_ending():
                    listener.close()
                    return
                if not isinstance(error, (OSError, RuntimeError)):
                    log_exception()

    def _begin_to_talk(self, connection: AgentSocket, pid: int) -> threading.Event | None:
        """Greet raydap, the process with this pid, and handle its answer in a thread.

        Return an event that is set when this process may continue. Return None if raydap closes the connection after
        the greeting, as it does when it only wants the identity. In that case the rest of the code is not loaded.
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
        """Greet and return the result of `_greet`, or "" if raydap closes the connection after it."""
        self._sockets.add(connection)
        try:
            key = self._greet(connection)
            if key and not hangs_up(connection, pid):
                return key
        except OSError:
            pass  # raydap has ended or closed the connection.
        self._sockets.discard(connection)
        connection.close()
        return ""

    def _talk(self, connection: AgentSocket, configured: threading.Event, key: str) -> None:
        """Handle one connection. Set `configured` when the process may continue, also after an error.

        `key` is the result of `_greet`, or "" if `hello` was not sent yet.
        """
        self._sockets.add(connection)
        try:
            key = key or self._greet(connection)
            if key:
                self._answer(connection, configured, key)
        except OSError:
            pass  # raydap has ended or closed the connection.
        except Exception:
            # A process that is ending cannot start threads, and needs no debugger.
            if not is_ending():
                log_exception()
        finally:
            configured.set()
            self._sockets.discard(connection)
            connection.close()

    def _greet(self, connection: AgentSocket) -> str:
        """Send `hello` and return the key in it (`_key`). Return "" if the peer belongs to another user."""
        if not peer_is_trusted(connection):
            return ""
        current = self.session
        if current is not None:
            # A client that reconnects at once must not be named as the holder.
            current.left.wait(LEAVE_TIMEOUT_S)
        holder = "" if self.session is None else self.session.client
        hello = {"raydap": VERSION, **self.identity, "pid": os.getpid(), "holder": holder, "port": self._port()}
        hello["calls"] = os.path.basename(self.raydap)
        connection.settimeout(ANSWER_TIMEOUT_S)
        write_line(connection, hello)
        return self._key(hello)

    def _answer(self, connection: AgentSocket, configured: threading.Event, key: str) -> None:
        """Read raydap's line, then send the stacks, a value or raydap's own result, or run a session."""
        from .agent_session import AgentSession
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
        if isinstance(answer.get("query"), str):
            connection.sendall(str(eval(answer["query"])).encode())
            return
        session = AgentSession(connection, str(answer.get("client", "raydap")), key, configured)
        if answer.get("debug") is not True or self._port() or not self._claim(session):
            return
        try:
            with self.changing:
                show_threads()
                problem = session.start(current_debugger)
            if problem:
                write_line(connection, {"error": problem})
            else:
                session.run(self.changing)
        finally:
            hide_threads()
            self.after_session()
            self.session = None
            session.left.set()

    def _port(self) -> int:
        # A forked child has no adapter, and Ray would never answer there.
        return 0 if self.session is not None or self.forked else adapter_port()

    def _claim(self, session: AgentSession) -> bool:
        with self._lock:
            if self.session is None:
                self.session = session
            return self.session is session


def adapter_port() -> int:
    """Return the port of the adapter that Ray's breakpoint() has started in this process, or 0.

    Call this only while no agent debugs the process. After Ray's shutdown, reading the port ends the process with exit
    code 1, so read it only if debugpy listens.
    """
    api = sys.modules.get("debugpy.server.api")
    ray: Any = sys.modules.get("ray")
    worker: Any = getattr(getattr(getattr(ray, "_private", None), "worker", None), "global_worker", None)
    # debugpy 1.8.0 does not set `called`.
    listens = getattr(getattr(api, "listen", None), "called", False) or global_debugger() is not None
    if not listens or not getattr(worker, "connected", False):
        return 0
    port = getattr(worker, "debugger_port", 0)
    return port if isinstance(port, int) else 0


def log_exception() -> None:
    """Write the current exception to standard error, which Ray forwards to the driver.

    The process continues without a debugger, and the user has to see why.
    """
    import traceback

    sys.stderr.write("raydap cannot debug this process: " + traceback.format_exc().strip().rpartition("\n")[2] + "\n")


def is_ending() -> bool:
    """Return whether the program has ended, and Python waits for its other threads."""
    threading: Any = sys.modules.get("threading")
    return threading is not None and not threading.main_thread().is_alive()


AGENT: Agent | None = None
"""The agent of this process, None before it is started."""


def load() -> None:
    """Run the rest of the agent's code, whether or not this process has an agent yet."""
    if AGENT is None:
        load_rest()
    else:
        AGENT.load()


def current_debugger() -> Any:
    """Return pydevd's debugger object while raydap debugs this process, else None."""
    session = None if AGENT is None else AGENT.session
    return None if session is None else session.debugger


def start_without_socket(folder: str, identity: dict[str, Any], raydap: str = "") -> Agent:
    """Return the agent of this process; create it if there is none.

    It does not listen yet: the socket in its identity does not exist.
    """
    global AGENT
    if AGENT is None:
        AGENT = Agent(folder, {**identity, "socket": os.path.join(folder, f"raydap-{os.getpid()}")}, raydap)
        atexit.register(AGENT.stop_importing)
        follow_children(AGENT)
    return AGENT


def start(folder: str, identity: dict[str, Any], raydap: str) -> None:
    """Start the agent of this process, once for each folder of its socket.

    `raydap` is the path to call, "" if none is known.
    """
    agent = start_without_socket(folder, identity, raydap)
    if not (agent.is_served and agent.folder == folder):
        agent.folder, agent.identity = folder, identity
        agent.begin(raydap)
