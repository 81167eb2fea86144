"""How this machine gets to a hub inside a cluster: directly, or through SSH or Kubernetes."""

import asyncio
import json
import socket
import textwrap

from raydap.hub.deploy import Hub
from raydap.hub.serve import is_loopback

_CONNECT_TIMEOUT = 3.0

_VSCODE = {"name": "Ray (hub)", "type": "debugpy", "request": "attach"}
_TOKEN = "${input:raydapToken}"
_INPUT = {"id": "raydapToken", "type": "promptString", "description": "raydap's token", "password": True}


async def directly(hub: Hub) -> str | None:
    """The host under which this machine reaches the hub without a tunnel, tried; None if there is none.

    A loopback address of the hub's machine means the hub only on that machine. Everywhere else something else may
    listen there, which must not get the token.
    """
    host = _listening(hub)
    if is_loopback(host) and not _is_ours(hub.node):
        return None
    try:
        _, writer = await asyncio.wait_for(asyncio.open_connection(host, hub.port), _CONNECT_TIMEOUT)
    except (OSError, asyncio.TimeoutError):
        return None
    writer.close()
    return host


def directions(hub: Hub, host: str | None, url: str) -> str:
    """What the user does next. `host` is what `directly` found, `url` what `raydap connect` takes."""
    named = f"{hub.node} ({hub.machine})" if hub.machine != hub.node else hub.node
    lines = [f"The hub is the job {hub.job} on {named} and listens on {_bracketed(hub.host)}:{hub.port}.", ""]
    if host is None:
        lines.append("This machine does not reach it directly. Forward its port, by one of")
        lines += [f"  {command}" for command in tunnels(hub)]
    else:
        lines.append("This machine reaches it directly.")
    lines += ["", "Editors that start a program (Neovim, Emacs) take this one:", f"  raydap connect {url}"]
    lines += ["", "VS Code takes this .vscode/launch.json:", textwrap.indent(_vscode(hub.port), "  ")]
    if host is not None and not is_loopback(host):
        lines += ["VS Code looks on its own machine only, so for it forward the port:", f"  {tunnels(hub)[0]}"]
    return "\n".join(lines)


def tunnels(hub: Hub) -> list[str]:
    """The commands that forward the hub's port to the same port of this machine's loopback."""
    inside = "127.0.0.1" if _is_any(hub.host) else hub.host
    commands = [f"ssh -N -L {hub.port}:{_bracketed(inside)}:{hub.port} USER@{hub.node}"]
    if inside == "127.0.0.1":
        # kubectl forwards to the pod's own loopback only.
        commands.append(f"kubectl port-forward pod/{hub.machine} {hub.port}:{hub.port}")
    return commands


def _vscode(port: int) -> str:
    """VS Code asks for the token, so it is in no file."""
    configuration = {**_VSCODE, "debugServer": port, "token": _TOKEN}
    return json.dumps({"version": "0.2.0", "configurations": [configuration], "inputs": [_INPUT]}, indent=2)


def _listening(hub: Hub) -> str:
    """The host to connect to on the hub's side: where it listens on all addresses, the machine's own."""
    return hub.node if _is_any(hub.host) else hub.host


def _is_any(host: str) -> bool:
    return host in ("0.0.0.0", "::")


def _is_ours(address: str) -> bool:
    """Whether this machine has this address: only then can it listen there."""
    try:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        with socket.socket(family) as trial:
            trial.bind((address, 0))
    except OSError:
        return False
    return True


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
