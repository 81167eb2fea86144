"""Calls the raydaps of this machine when a process begins; runs in drivers and workers, as a part of the agent.

A raydap that debugs a cluster listens in the `sockets` folder of Ray's session, under the name `raydap-call-...`
(runtime/agents.py). So a prepared process needs to know of no raydap: it finds those that there are when it begins. On
other nodes of the cluster raydap's relay listens, under the same name as raydap on its own machine.
"""

from __future__ import annotations

import _socket
import os
import sys
import time

from .light_start import wraps
from .private_sockets import peer_is_trusted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

CALL_PREFIX = "raydap-call-"

RELAY_TIMEOUT_S = 1.0
"""Seconds for which a process waits for the relay of the raydap that it calls. On a new node that may be starting."""

RELAY_INTERVAL_S = 0.05


def call_raydaps(call: Callable[[str], bool], folder: str, raydap: str = "", wait: bool = True) -> str:
    """Calls raydap at this path. If it is gone, or none is given, calls each that listens in the folder, until one
    debugs this process. Returns the path of the one that does, else "". `call` is that of the agent. `wait`: a relay on
    this node may just be starting. It is not if the process was forked: its parent has called already."""
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
            # A raydap that was killed has left it: one that lives listens before its socket has this name.
            try:  # noqa: SIM105  # contextlib may not be imported yet
                os.unlink(path)
            except OSError:
                pass
        except OSError:
            pass  # It has ended just now, or belongs to somebody else.
    return ""


def skip_post_mortem_alone(raydap: str, folder: str) -> None:
    """In the worker of a launched program Ray's post mortem waits for a debugger only while its raydap listens. Without
    it, as after `kill -9`, the program would wait for ever where it is to fail.

    Source: ray/util/rpdb.py, `_post_mortem`, which calls that of ray/util/debugpy.py.
    """
    ray_debugpy: Any = sys.modules.get("ray.util.debugpy")
    original = getattr(ray_debugpy, "_post_mortem", None)
    if original is None:
        return

    @wraps(original)
    def _post_mortem(*args: Any, **named: Any) -> Any:
        return original(*args, **named) if is_listening(raydap, folder) else None

    ray_debugpy._post_mortem = _post_mortem


def is_listening(raydap: str, folder: str) -> bool:
    """Return whether the raydap at this path is there, or its relay."""
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
    """The path of a raydap on this machine: that of its relay in the folder, if it is on another machine, or has
    ended."""
    return raydap if os.path.exists(raydap) else os.path.join(folder, os.path.basename(raydap))


def raydaps_in(folder: str) -> list[str]:
    """The paths of those that listen in the folder, and of those that have been killed."""
    try:
        names = sorted(name for name in os.listdir(folder) if name.startswith(CALL_PREFIX))
    except OSError:
        return []
    return [os.path.join(folder, name) for name in names]


def wait_for_relay(path: str) -> None:
    """Returns when a relay listens under this path, or when none has in time."""
    until = time.monotonic() + RELAY_TIMEOUT_S
    while not os.path.exists(path) and time.monotonic() < until:
        time.sleep(RELAY_INTERVAL_S)
