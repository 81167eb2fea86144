"""A hub outlives its clients: what becomes of the workers when the last has gone, and how one comes back.

A client that has gone, by `disconnect` or without a word, leaves everything as it is: stopped threads stay stopped,
workers that pause are attached, breakpoints hold. How long, the hub's settings say. Whoever attaches next takes over.
"""

from raydap.core.clients import Client
from raydap.core.fanout import configured
from raydap.core.handshake import tell_breakpoints
from raydap.core.session import Session


def hold(session: Session, seconds: float | None) -> None:
    """No debugger is left. The workers are kept for so many seconds; None is for ever."""
    session.held = True
    session.release_at = None if seconds is None else session.now + seconds
    session.breakpoints.doubt()
    until = "a client comes back" if seconds is None else f"a client comes back within {seconds:g} s"
    session.log("info", f"{len(session.workers)} workers are held until {until}")


def returned(session: Session, client: Client) -> None:
    """A client has attached to what is held; its breakpoints follow, and take the place of the old ones."""
    if session.held:
        session.held = False
        session.release_at = None
        missed, session.missed = session.missed, []
        for text in missed:
            client.event("output", {"category": "important", "output": f"{text}\n"})


def settled(session: Session) -> None:
    """The client that came back has told all its breakpoints; what the one before had besides is dropped."""
    for group in session.breakpoints.drop_doubtful():
        for worker in configured(session):
            tell_breakpoints(session, worker, group)


def overdue(session: Session) -> bool:
    """Whether nobody has come back in time. Asked at every Tick."""
    return session.held and session.release_at is not None and session.now >= session.release_at
