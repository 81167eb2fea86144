"""Runs ask_ray.py, the script that talks to Ray's own code, and reads its reply."""

import asyncio
import json
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

_SCRIPT = Path(__file__).with_name("ask_ray.py")
_DETAIL = 2000


class AskFailed(Exception):
    """Ray had no answer. `args[0]` is one line of reason; `detail` the end of what the script wrote to stderr."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(reason)
        self.detail = detail


async def ask(question: Mapping[str, Any], environ: Mapping[str, str], timeout: float) -> Any:
    """Returns the answer (ask_ray.py says of which shape); raises AskFailed, also after `timeout` seconds.

    The script's process never outlives this call, whether it returns, fails or is cancelled.
    """
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(_SCRIPT),
        env=dict(environ),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        talk = process.communicate(json.dumps(question).encode())
        out, err = await asyncio.wait_for(talk, timeout)
    except asyncio.TimeoutError:
        raise AskFailed(f"no answer within {timeout:g} s") from None
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    detail = err.decode(errors="replace")[-_DETAIL:]
    try:
        reply = json.loads(out)
    except ValueError:
        raise AskFailed(f"Ray's client ended with code {process.returncode}", detail) from None
    if "error" in reply:
        raise AskFailed(" ".join(reply["error"].split())[:300], detail)
    return reply["answer"]
