"""The breakpoints that clients have set in the debug sessions that run."""

import asyncio
import logging
from pathlib import Path

from raydap import safe_files
from raydap.bounded_wait import wait_for
from raydap.client import session_connections
from raydap.client.dap_connection import Connect, SessionError
from raydap.client.joining import ANSWER_TIMEOUT_S, JoinedSession, is_same_cluster
from raydap.doctor.facts import SourceBreakpoint
from raydap.errors import ProblemError
from raydap.protocol.message_base import Arguments
from raydap.protocol.raydap_messages import BreakpointList, SetBreakpoint

log = logging.getLogger("raydap")


async def find(dashboard: str) -> tuple[SourceBreakpoint, ...]:
    """Return the line breakpoints of all sessions of this user on this machine that debug the cluster. Raises nothing.

    The sessions are those of editors and hubs. A session that does not answer is skipped.
    """
    try:
        ways = session_connections.find()
    except OSError as error:
        log.info("the sessions of this machine cannot be listed: %s", error)
        return ()
    answers = await asyncio.gather(*(_ask(name, connect, dashboard) for name, connect in ways.items()))
    # Remove duplicates: a hub and a session that is connected to it have the same breakpoints.
    return tuple(dict.fromkeys(one for answer in answers for one in answer))


async def _ask(name: str, connect: Connect, dashboard: str) -> list[SourceBreakpoint]:
    """Return the line breakpoints of a session, [] if it debugs another cluster or does not answer.

    It joins as an observer for a moment: an observer changes nothing, and a client that joins keeps no session alive.
    """
    session = JoinedSession("editor", name, lambda *_: None, lambda _: None)
    try:
        await session.connection.open(connect)
        return await wait_for(_ask_session(session, dashboard), ANSWER_TIMEOUT_S)
    except (OSError, ProblemError, SessionError, asyncio.TimeoutError) as error:
        log.info("the session %s does not list its breakpoints: %r", name, error)
        return []
    finally:
        await session.close()


async def _ask_session(session: JoinedSession, dashboard: str) -> list[SourceBreakpoint]:
    debugs = await session.initialize()
    if not debugs or not is_same_cluster(debugs, dashboard):
        return []
    await session.begin("attach", {"join": True, "role": "observer"})
    listed = await session.connection.ask("raydap/breakpoints", Arguments(), BreakpointList)
    return [_read(one) for one in listed.breakpoints if one.path]


def _read(one: SetBreakpoint) -> SourceBreakpoint:
    try:
        source: bytes | None = safe_files.read_regular(one.path)
    except (OSError, ValueError):
        # The file is only on the machine of the editor.
        source = None
    return SourceBreakpoint(Path(one.path), one.line, source, one.verified, one.message)
