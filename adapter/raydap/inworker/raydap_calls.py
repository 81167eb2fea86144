"""Calls from a starting process to the raydaps of its machine; runs in drivers and workers, as a part of the agent.

A raydap that debugs a cluster listens in the `sockets` folder of Ray's session, under a name like `raydap-call-...`
(runtime/agents.py). So a prepared process needs no address: when it starts, it looks for the raydaps there. On the
other nodes of the cluster raydap's relay listens, under the name that raydap has on its own machine.
"""

from __future__ import annotations

import _socket
import os
import time

from .private_sockets import peer_is_trusted
from .replaced_functions import install, original

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

CALL_PREFIX = "raydap-call-"
"""The prefix of the names of the sockets on which raydaps and their relays listen for calls."""

RELAY_TIMEOUT_S = 1.0
"""Seconds for which a process waits for the relay of the raydap that it calls: on a new node it may just be
starting."""

RELAY_INTERVAL_S = 0.05
"""Seconds between two checks whether the relay's socket exists."""


def call_raydaps(call: Callable[[str], bool], folder: str, raydap: str = "", wait: bool = True) -> str:
    """Call raydaps until one debugs this process; return the path of that raydap, "" if none does.

    Call the raydap at the path `raydap`. If it has ended, or none is given, call each raydap that listens in the
    folder. `call` is `Agent.call`. If `wait` is true, wait for a relay that may just be starting on this node; a forked
    process need not, because its parent has called already.
    """
    if raydap:
        try:
            return raydap if call(raydap) else ""
        except FileNotFoundError:
            # It is on another machine, or has ended.
            here = path_here(raydap, folder)
            try:
                if wait:
                    wait_for_relay(here)
                return here if call(here) else ""
            except OSError:
                pass
        except OSError:
            pass  # It has ended.
    for path in raydaps_in(folder):
        try:
            if call(path):
                return path
        except ConnectionRefusedError:
            # A killed raydap has left this socket: a running one listens before its socket gets this name.
            try:  # noqa: SIM105  # contextlib may not be imported yet
                os.unlink(path)
            except OSError:
                pass
        except OSError:
            pass  # That raydap has just ended, or belongs to another user.
    return ""


def skip_post_mortem_alone(raydap: str, folder: str) -> None:
    """Let Ray's post mortem wait for a debugger only while raydap listens.

    Called in the workers of a launched program. If raydap is gone, as after `kill -9`, the program would otherwise wait
    forever instead of failing. Source: ray/util/rpdb.py, `_post_mortem`, which calls that of ray/util/debugpy.py.
    """
    path = "ray.util.debugpy:_post_mortem"
    rays = original(path)
    if rays is not None:
        install(path, lambda *args, **named: rays(*args, **named) if is_listening(raydap, folder) else None)


def is_listening(raydap: str, folder: str) -> bool:
    """Return whether the raydap at this path, or its relay in the folder, accepts a connection."""
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    connection.settimeout(RELAY_TIMEOUT_S)
    try:
        connection.connect(path_here(raydap, folder))
        return peer_is_trusted(connection)
    except OSError:
        return False
    finally:
        connection.close()


def path_here(raydap: str, folder: str) -> str:
    """Return a path on this machine for the raydap at the given path.

    If that raydap is on another machine or has ended, it is the path of its relay in the folder.
    """
    return raydap if os.path.exists(raydap) else os.path.join(folder, os.path.basename(raydap))


def raydaps_in(folder: str) -> list[str]:
    """Return the paths of the raydaps that listen in the folder, and of killed raydaps."""
    try:
        names = sorted(name for name in os.listdir(folder) if name.startswith(CALL_PREFIX))
    except OSError:
        return []
    return [os.path.join(folder, name) for name in names]


def wait_for_relay(path: str) -> None:
    """Wait until a relay has a socket at this path, but at most RELAY_TIMEOUT_S."""
    until = time.monotonic() + RELAY_TIMEOUT_S
    while not os.path.exists(path) and time.monotonic() < until:
        time.sleep(RELAY_INTERVAL_S)
