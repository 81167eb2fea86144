"""Starts raydap_process.py, which runs Ray's own code, and reads its answer."""

import asyncio
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from raydap.bounded_wait import wait_for

SCRIPT = Path(__file__).with_name("raydap_process.py")

_MAX_DETAIL = 2000

# The first two would lead Ray to another cluster. The others would make a driver part of the job that runs raydap.
_VARIABLES = ("RAY_ADDRESS", "RAY_API_SERVER_ADDRESS", "RAY_JOB_CONFIG_JSON_ENV_VAR", "RAY_RUNTIME_ENV_HOOK")


class QueryFailed(Exception):
    """Ray has given no answer.

    `args[0]` is the reason in one line, and `detail` the end of the process's standard error.
    """

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(reason)
        self.detail = detail


def command(operation: str) -> list[str]:
    """Return the command line of the process for one of raydap_process.OPERATIONS."""
    return [sys.executable, str(SCRIPT), operation]


def line(question: Mapping[str, Any]) -> bytes:
    """Return the first line for the process's standard input."""
    return json.dumps(question).encode() + b"\n"


def driver_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment for an operation that joins a cluster by ray_driver.join."""
    return {name: value for name, value in environ.items() if name not in _VARIABLES}


def read_reply(data: bytes) -> Any:
    """Return the object in a line of the process.

    Raises QueryFailed with the error in the line, and ValueError for anything else than JSON.
    """
    reply = json.loads(data)
    if "error" in reply:
        raise QueryFailed(" ".join(str(reply["error"]).split())[:300])
    return reply


async def query(operation: str, question: Mapping[str, Any], environ: Mapping[str, str], timeout_s: float) -> Any:
    """Return the answer to a question. The operation defines the form of both.

    Raises QueryFailed, also after `timeout_s`; OSError if the process cannot be started. The process never outlives
    this call, whether it returns, fails or is cancelled.
    """
    process = await asyncio.create_subprocess_exec(
        *command(operation),
        env=dict(environ),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        out, err = await wait_for(process.communicate(line(question)), timeout_s)
    except asyncio.TimeoutError:
        raise QueryFailed(f"no answer within {timeout_s:g} s") from None
    finally:
        await end_process(process)
    detail = err.decode(errors="replace")[-_MAX_DETAIL:]
    try:
        return read_reply(out)["answer"]
    except QueryFailed as failed:
        raise QueryFailed(str(failed), detail) from None
    except ValueError:
        raise QueryFailed(f"the process with Ray's client exited with code {process.returncode}", detail) from None


async def end_process(process: asyncio.subprocess.Process) -> None:
    """Kill the process if it runs, close its pipes, and return when it has ended.

    Close the pipes first: asyncio waits for them, too, and a child that the process has left behind can keep them open
    indefinitely. Only the transport can close them.
    """
    process._transport.close()  # type: ignore[attr-defined]
    await process.wait()
