"""Instructions for the user to reach a hub inside a cluster: directly, or through SSH or Kubernetes."""

import asyncio
import json
import re
import shlex
import textwrap

from raydap.bounded_wait import wait_for
from raydap.hub.hub_job import Hub
from raydap.hub.server import is_loopback
from raydap.presentation.safe_text import one_line
from raydap.tcp_sockets import is_local_address

_CONNECT_TIMEOUT_S = 3.0

_EXTENSION = {"name": "Ray (hub)", "type": "raydap", "request": "attach"}
_VSCODE = {"name": "Ray (hub)", "type": "debugpy", "request": "attach"}
_TOKEN = "${input:raydapToken}"
_INPUT = {"id": "raydapToken", "type": "promptString", "description": "raydap's token", "password": True}


async def direct_host(hub: Hub) -> str | None:
    """Return the host at which this machine can connect to the hub without a tunnel, None if it cannot.

    A loopback address is tried only on the hub's own machine. On another machine it may lead to another server, which
    must not get the token.
    """
    host = _listening(hub)
    if is_loopback(host) and not is_local_address(hub.node):
        return None
    try:
        _, writer = await wait_for(asyncio.open_connection(host, hub.port), _CONNECT_TIMEOUT_S)
    except (OSError, asyncio.TimeoutError):
        return None
    writer.close()
    return host


def describe(hub: Hub, host: str | None, url: str) -> str:
    """Return instructions for the user: what to run, and what to write into launch.json.

    `host` is the result of `direct_host`, and `url` is the argument of `raydap connect`.
    """
    named = one_line(f"{hub.node} ({hub.machine})" if hub.machine != hub.node else hub.node)
    lines = [f"The hub is the job {hub.job} on {named} and listens on {_bracketed(hub.host)}:{hub.port}.", ""]
    if host is None:
        lines.append("This machine cannot reach it directly. Forward its port with one of these commands:")
        lines += [f"  {command}" for command in tunnels(hub)]
    else:
        lines.append("This machine can reach it directly.")
    lines += ["", "For editors that start an adapter (Neovim, Emacs), use this command:", f"  raydap connect {url}"]
    lines += ["", "For VS Code with raydap's extension, put this configuration into .vscode/launch.json:"]
    lines += [f"  {json.dumps({**_EXTENSION, 'hub': url})}"]
    without = "For VS Code with only the Python Debugger extension, use this .vscode/launch.json:"
    lines += ["", without, textwrap.indent(_vscode(hub.port), "  ")]
    if host is not None and not is_loopback(host):
        lines += ["That extension connects only to its own machine, so forward the port first:", f"  {tunnels(hub)[0]}"]
    return "\n".join(lines)


def tunnels(hub: Hub) -> list[str]:
    """Return commands that forward the hub's port to the same port of this machine's loopback."""
    inside = "127.0.0.1" if _is_any(hub.host) else hub.host
    # Quote the names: they come from the cluster, and the user pastes the commands into a shell.
    forwarded = _word(f"{hub.port}:{_bracketed(inside)}:{hub.port}")
    commands = [f"ssh -N -L {forwarded} USER@{_word(hub.node)}"]
    if inside == "127.0.0.1":
        # kubectl can forward only to the pod's loopback.
        commands.append(f"kubectl port-forward pod/{_word(hub.machine)} {hub.port}:{hub.port}")
    return commands


def _vscode(port: int) -> str:
    """Return a launch.json with which VS Code prompts for the token, so that no file contains it."""
    configuration = {**_VSCODE, "debugServer": port, "token": _TOKEN}
    return json.dumps({"version": "0.2.0", "configurations": [configuration], "inputs": [_INPUT]}, indent=2)


def _listening(hub: Hub) -> str:
    """Return the host to connect to: the machine's own address if the hub listens on all addresses."""
    return hub.node if _is_any(hub.host) else hub.host


def _word(name: str) -> str:
    """Return the name as one shell word, on one line. An IPv6 address in brackets gets no quotes."""
    name = one_line(name)
    return name if re.fullmatch(r"[\w.:\[\]-]+", name, re.ASCII) else shlex.quote(name)


def _is_any(host: str) -> bool:
    return host in ("0.0.0.0", "::")


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
