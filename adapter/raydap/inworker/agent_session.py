"""A session of raydap in a process with an agent, from its first request to `disconnect`; runs in that process."""

import threading
from collections.abc import Callable
from typing import Any

from .agent_lines import write_line
from .agent_socket import AgentSocket
from .breakpoint_hooks import global_debugger, replace_breakpoints
from .pydevd_lifetime import import_debugpy, prepare, stop, unknown_debugpy, without_sleep
from .replaced_functions import DETACHED, install, put_back, restore

FILE = "<raydap agent>"
"""The file name under which an agent's sources are compiled. pydevd neither traces nor shows code from there."""

AT_START = "/at_start/sitecustomize.py"
"""The end of the path of raydap's code that a program runs at its start and at each import, until it imports Ray."""


class AgentSession:
    """A session of raydap over one connection."""

    def __init__(self, connection: "AgentSocket", client: str, key: str, configured: threading.Event) -> None:
        self.connection = connection
        """The connection to raydap, on which pydevd speaks DAP."""
        self.client = client
        """The name of this raydap, which `hello` reports to other clients."""
        self.key = key
        """This raydap's key for the process. A driver has another key after `ray.init` has given it an id."""
        self.configured = configured
        """Set when the breakpoints are set."""
        self.left = threading.Event()
        """Set when the session has ended."""
        self.started: Any = None
        """pydevd's debugger object, None until pydevd has connected."""
        self.has_ended = False
        """Whether raydap has disconnected or ended. pydevd may still be active."""

    @property
    def debugger(self) -> Any:
        """Return pydevd's debugger object from `configurationDone` to the end of the session, else None.

        This reads pydevd's own event. A thread of pydevd sets the event and then answers, so the program may reach a
        breakpoint() before any other thread runs.
        """
        started = self.started
        is_active = started is not None and not self.has_ended and started._on_configuration_done_event.is_set()
        return started if is_active else None

    def start(self, debugger: Callable[[], Any]) -> str:
        """Start pydevd on the connection; return "" or the reason why it cannot start.

        `debugger` returns pydevd's debugger object while raydap debugs this process, else None.

        pydevd's start sends one line before DAP (`_start`). If an error follows that line, raise the error. After an
        error, nothing of pydevd is active.
        """
        try:
            import_debugpy()
            self._start()
            replace_breakpoints(debugger)
        except BaseException as error:  # Not only Exception: pydevd ends a process in which it fails.
            restore(None, DETACHED)
            left = self.started or global_debugger()
            if left is not None:
                stop(left)
            if self.started is not None:
                raise
            return str(error) if isinstance(error, (ImportError, RuntimeError)) else unknown_debugpy(error)
        return ""

    def run(self, changing: Any) -> None:
        """Run until raydap disconnects or ends, then stop pydevd. `changing` is Agent.changing."""
        debugger = self.started
        try:
            reader = debugger.reader
            while reader.is_alive() and not debugger._on_configuration_done_event.wait(0.05):
                pass
            self.configured.set()
            reader.join()
        finally:
            with changing:
                self.has_ended = True
                restore(None, DETACHED)
                stop(debugger)

    def _start(self) -> None:
        """Run pydevd's `settrace` on the existing connection.

        `settrace` can only make a new connection, so the function that does this is replaced during the call.
        """
        import pydevd

        def start_client(host: str, port: int) -> "AgentSocket":
            # Keep the object: if raydap closes the connection now, pydevd drops it as its global debugger.
            debugger = pydevd.get_global_debugger()
            prepare(debugger)
            self.started = debugger
            write_line(self.connection, {"error": ""})
            self.connection.settimeout(None)
            return self.connection

        if not hasattr(pydevd, "start_client"):
            raise AttributeError("pydevd.start_client")
        install("pydevd:start_client", start_client)
        install("pydevd:time", without_sleep())
        # Otherwise pydevd would use the host and port of an earlier session.
        pydevd.SetupHolder.setup = None
        try:
            # Hold back requests until all threads are traced. Otherwise a thread could pass a breakpoint of raydap.
            with self.connection.reading:
                pydevd.settrace(
                    host="localhost",
                    port=1,
                    suspend=False,
                    wait_for_ready_to_run=False,
                    block_until_connected=True,
                    dont_trace_end_patterns=(FILE, AT_START),
                    patch_multiprocessing=False,
                    notify_stdin=False,
                )
        finally:
            put_back("pydevd:start_client")
            put_back("pydevd:time")
