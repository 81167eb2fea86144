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

import contextlib
import errno
import os
import socket
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # The files of an agent are run one after the other in one module, so these names are there.
    from raydap.inworker.agent_children import follow_children
    from raydap.inworker.agent_lines import peer_is_trusted, peer_pid, read_line, wait_unless_stopped, write_line
    from raydap.inworker.agent_socket import AgentSocket
    from raydap.inworker.agent_threads import start_thread
    from raydap.inworker.breakpoint_hooks import BreakpointHooks
    from raydap.inworker.pydevd_lifetime import (
        WithoutSleep,
        global_debugger,
        import_debugpy,
        prepare,
        stop,
        unknown_debugpy,
    )
    from raydap.inworker.raydap_calls import call_raydaps
    from raydap.inworker.running_values import evaluate_running
    from raydap.inworker.stack_reader import as_json
    from raydap.inworker.thread_waits import read_waits

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

FILE = "<raydap agent>"
"""The file name under which the sources of an agent are compiled. pydevd neither traces nor shows code from there."""


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
        self.changing = threading.RLock()
        self._lock = threading.Lock()
        self.is_served = False
        self._sockets: set[AgentSocket] = set()

    def begin(self, raydap: str) -> None:
        """Listens, and calls the raydap at this path, or without one those that listen in the folder, unless somebody
        debugs the process already. Returns when the breakpoints of the one that debugs it are set."""
        path = os.path.join(self.folder, f"raydap-{os.getpid()}")
        # First, because a raydap may find the socket at once, and hello has to say it.
        self.identity = {**self.identity, "socket": path}
        self._serve(path)
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

    def leave_parent(self) -> "Session | None":
        """In a forked child: leaves the sockets and the session to its parent; returns that session, if there is one.
        The child is as before `begin`, with an identity of its own."""
        session, identity = self.session, self.identity_of_child()
        for each in self._sockets:
            each.drop()
        if session is not None and session.hooks is not None:
            session.hooks.restore()
        self.forked = True
        self._reset(identity)
        return session

    def _serve(self, path: str) -> None:
        """Listens, in a thread, on a socket that only this user can use."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)  # A process that had this number before has left it.
        listener = AgentSocket(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
        self._sockets.add(listener)
        listener.bind_privately(path)
        listener.listen(8)
        start_thread(self._accept, listener)
        self.is_served = True

    def call(self, path: str) -> bool:
        """Asks raydap whether it wants to debug this process, and waits until its breakpoints are set. Returns whether
        it debugs it. Does not wait for a stopped raydap. Raises OSError if no raydap listens at this path."""
        connection = AgentSocket(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
        connection.settimeout(CALL_TIMEOUT_S)
        try:
            connection.connect(path)
        except OSError:
            connection.close()
            raise
        configured = threading.Event()
        pid = peer_pid(connection)
        start_thread(self._talk, connection, configured)
        wait_unless_stopped(configured, pid, ANSWER_TIMEOUT_S + CONFIGURED_TIMEOUT_S)
        return self.session is not None

    def _accept(self, listener: "AgentSocket") -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError as error:
                if error.errno in OUT_OF_RESOURCES:
                    time.sleep(ACCEPT_INTERVAL_S)
                    continue
                listener.close()  # The program has closed all descriptors.
                return
            try:
                start_thread(self._talk, connection, threading.Event())
            except RuntimeError:
                # It has too many threads, or ends and can start none any more.
                connection.close()
                if not threading.main_thread().is_alive():
                    listener.close()
                    return

    def _talk(self, connection: "AgentSocket", configured: threading.Event) -> None:
        """`configured` is set when the process may go on, whatever happens here."""
        self._sockets.add(connection)
        try:
            if peer_is_trusted(connection):
                self._greet(connection, configured)
        except OSError:
            pass  # raydap has gone.
        except Exception:
            # A process that ends can begin no thread any more, and needs no debugger.
            if threading.main_thread().is_alive():
                log_exception()
        finally:
            configured.set()
            self._sockets.discard(connection)
            connection.close()

    def _greet(self, connection: "AgentSocket", configured: threading.Event) -> None:
        current = self.session
        if current is not None:
            # A client that comes back at once is not told that it is still there.
            current.left.wait(LEAVE_TIMEOUT_S)
        holder = "" if self.session is None else self.session.client
        # In a forked child Ray would never answer, and has no adapter.
        port = 0 if self.session is not None or self.forked else adapter_port()
        hello = {"raydap": VERSION, **self.identity, "pid": os.getpid(), "holder": holder, "port": port}
        hello["calls"] = os.path.basename(self.raydap)
        connection.settimeout(ANSWER_TIMEOUT_S)
        write_line(connection, hello)
        answer = read_line(connection)
        if answer.get("stack") is True:
            connection.sendall(as_json(read_waits(answer.get("waits") is True)).encode())
            return
        if isinstance(answer.get("evaluate"), str):
            connection.sendall(evaluate_running(answer["evaluate"], float(answer["seconds"])).encode())
            return
        session = Session(connection, str(answer.get("client", "raydap")), self._key(hello), configured)
        if answer.get("debug") is not True or port or not self._claim(session):
            return
        try:
            with self.changing:
                session.hooks = hooks = BreakpointHooks(current_debugger)
                problem = session.start(hooks)
            if problem:
                write_line(connection, {"error": problem})
            else:
                session.run(hooks, self.changing)
        finally:
            self.session = None
            session.left.set()

    def _claim(self, session: "Session") -> bool:
        with self._lock:
            if self.session is None:
                self.session = session
            return self.session is session


class Session:
    """The time in which raydap debugs the process, over one connection. `client` is raydap's name for others, and `key`
    what it knows the process by: a driver says another one once `ray.init` has given it an id. `configured` is set when
    the breakpoints are set, and `left` when nothing of the session is there any more."""

    def __init__(self, connection: "AgentSocket", client: str, key: str, configured: threading.Event) -> None:
        self.connection = connection
        self.client = client
        self.key = key
        self.configured = configured
        self.left = threading.Event()
        self.hooks: BreakpointHooks | None = None
        self.debugger: Any = None
        self.started: Any = None

    def start(self, hooks: "BreakpointHooks") -> str:
        """Lets pydevd speak DAP on our connection, after the line that says so. Returns "", or why it cannot; then
        nothing of it is left. Raises the same if that line is written already."""
        try:
            import_debugpy()
            self._start()
            hooks.replace()
        except BaseException as error:  # pydevd ends a process in which it fails.
            hooks.restore()
            left = self.started or global_debugger()
            if left is not None:
                stop(left)
            if self.started is not None:
                raise
            return str(error) if isinstance(error, (ImportError, RuntimeError)) else unknown_debugpy(error)
        return ""

    def run(self, hooks: "BreakpointHooks", changing: Any) -> None:
        """Returns when raydap has disconnected or is gone, and nothing of it is left. `changing` is Agent.changing."""
        debugger = self.started
        try:
            reader = debugger.reader
            while reader.is_alive() and not debugger._on_configuration_done_event.wait(0.05):
                pass
            self.debugger = debugger
            self.configured.set()
            reader.join()
        finally:
            with changing:
                self.debugger = None
                hooks.restore()
                stop(debugger)

    def _start(self) -> None:
        """pydevd's `settrace` knows no connection that exists, so the function by which it makes one is replaced
        meanwhile."""
        import pydevd

        def start_client(host: str, port: int) -> socket.socket:
            # It is not pydevd's global one any more if raydap hangs up meanwhile.
            debugger = pydevd.get_global_debugger()
            prepare(debugger)
            self.started = debugger
            write_line(self.connection, {"error": ""})
            self.connection.settimeout(None)
            return self.connection

        original, time = pydevd.start_client, pydevd.time
        pydevd.start_client, pydevd.time = start_client, WithoutSleep(time)
        # Otherwise pydevd would go on with the host and port of an earlier session.
        pydevd.SetupHolder.setup = None
        try:
            # Requests wait until all threads are traced. Otherwise raydap could have set its breakpoints, and a thread
            # run past them.
            with self.connection.reading:
                pydevd.settrace(
                    host="localhost",
                    port=1,
                    suspend=False,
                    wait_for_ready_to_run=False,
                    block_until_connected=True,
                    dont_trace_end_patterns=(FILE,),
                    patch_multiprocessing=False,
                    notify_stdin=False,
                )
        finally:
            pydevd.start_client, pydevd.time = original, time


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


AGENT: Agent | None = None


def current_debugger() -> Any:
    """pydevd's debugger object while raydap debugs this process, else None."""
    session = None if AGENT is None else AGENT.session
    return None if session is None else session.debugger


def start_without_socket(folder: str, identity: dict[str, Any], raydap: str = "") -> Agent:
    """The agent of this process, which cannot be called yet: raydap finds no socket under the path that it says."""
    global AGENT
    if AGENT is None:
        AGENT = Agent(folder, {**identity, "socket": os.path.join(folder, f"raydap-{os.getpid()}")}, raydap)
        follow_children(AGENT)
    return AGENT


def start(folder: str, identity: dict[str, Any], raydap: str) -> None:
    """Starts the agent of this process, once for each folder, which is for its socket. `raydap` is the path to call, ""
    if none is known."""
    agent = start_without_socket(folder, identity, raydap)
    if not (agent.is_served and agent.folder == folder):
        agent.folder, agent.identity = folder, identity
        agent.begin(raydap)


def start_in_worker(raydap: str) -> None:
    """Starts the agent of a Ray worker; its socket is beside Ray's own."""
    import ray

    worker: Any = ray._private.worker.global_worker
    context = ray.get_runtime_context()
    identity = {
        "worker_id": context.get_worker_id(),
        "node_id": context.get_node_id(),
        "node_ip": worker.node_ip_address,
        "worker_type": "WORKER",
    }
    start(os.path.join(worker.node.get_session_dir_path(), "sockets"), identity, raydap)
