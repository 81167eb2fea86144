"""Watches the breakpoints of Ray's old debugger, in a process of legacy_process.py."""

import asyncio
from collections.abc import Mapping
from typing import Any

from raydap.cluster.ray_process import ray_query
from raydap.cluster.ray_process.ray_query import QueryFailed, end_process

_LIMIT = 64 * 1024 * 1024
"""Maximum length of a line, in bytes: thousands of post mortems with long tracebacks."""


class LegacyWatch:
    """A process that reads the entries of a GCS once a second. Must be closed."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None

    async def start(self, address: str, environ: Mapping[str, str]) -> None:
        """Start the process for the GCS at `address`. Raises OSError if this machine cannot start a process."""
        self._process = await asyncio.create_subprocess_exec(
            *ray_query.command("legacy_watch"),
            env=dict(environ),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            limit=_LIMIT,
            # Ctrl-C in the terminal is for raydap alone.
            start_new_session=True,
        )
        self._send({"address": address})

    def forget(self, key: str) -> None:
        """Delete an entry that Ray has left behind, if the process runs."""
        if self._process is not None:
            self._send({"forget": key})

    async def entries(self) -> dict[str, str]:
        """Wait for the next reading, and return its entries as JSON texts by their keys.

        Raises QueryFailed if the process has ended.
        """
        assert self._process is not None
        assert self._process.stdout is not None
        try:
            reply = ray_query.read_reply(await self._process.stdout.readline())
        except ValueError:
            raise QueryFailed("Ray's client has ended") from None
        entries: dict[str, str] = reply["entries"]
        return entries

    async def close(self) -> None:
        """Kill the process, and return when it has ended. It would take a quarter of a second to end by itself."""
        if self._process is not None:
            process, self._process = self._process, None
            await end_process(process)

    def _send(self, command: Mapping[str, Any]) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(ray_query.line(command))
