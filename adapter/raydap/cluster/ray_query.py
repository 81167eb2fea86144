"""Runs scripts that talk to Ray's own code, in processes of their own, and reads their reply."""

import asyncio
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from raydap.bounded_wait import wait_for

_SCRIPT = Path(__file__).with_name("ray_query_script.py")
_MAX_DETAIL = 2000


class QueryFailed(Exception):
    """Ray had no answer. `args[0]` is one line of reason; `detail` the end of what the script wrote to stderr."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(reason)
        self.detail = detail


async def query(
    question: Mapping[str, Any], environ: Mapping[str, str], timeout_s: float, script: Path | None = None
) -> Any:
    """Returns the answer, whose shape the script gives: ray_query_script.py, or another one that speaks as it does.

    Raises QueryFailed, also after `timeout_s`; OSError if the script cannot be started. The script's process never
    outlives this call, whether it returns, fails or is cancelled.
    """
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(script or _SCRIPT),
        env=dict(environ),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        communicating = process.communicate(json.dumps(question).encode())
        out, err = await wait_for(communicating, timeout_s)
    except asyncio.TimeoutError:
        raise QueryFailed(f"no answer within {timeout_s:g} s") from None
    finally:
        await end_process(process)
    detail = err.decode(errors="replace")[-_MAX_DETAIL:]
    try:
        reply = json.loads(out)
    except ValueError:
        raise QueryFailed(f"Ray's client ended with code {process.returncode}", detail) from None
    if "error" in reply:
        raise QueryFailed(" ".join(reply["error"].split())[:300], detail)
    return reply["answer"]


async def end_process(process: asyncio.subprocess.Process) -> None:
    """Kills the process if it runs, closes its pipes, and returns when it has ended.

    The pipes come first: asyncio waits for them, too, and a process that this one has left behind can hold them for
    ever. Only the transport can close them.
    """
    process._transport.close()  # type: ignore[attr-defined]
    await process.wait()
