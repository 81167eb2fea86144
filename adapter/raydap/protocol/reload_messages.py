"""The messages of `raydap/reload`. A part of raydap_messages.py."""

from raydap.protocol.message_base import Arguments, Message


class ReloadArguments(Arguments, frozen=True):
    """The arguments of `raydap/reload`."""

    path: str
    """The path of a Python file on the client's machine."""
    text: str
    """The new text of the file."""


class ReloadedPart(Message, frozen=True):
    """A function of the file, or another part of it, in the workers in which the same has happened to it."""

    name: str
    """The qualified name, such as `Trainer.step`."""
    reason: str
    """Why it could not be changed or added, or why workers were not reached; otherwise ""."""
    workers: tuple[str, ...]
    """The keys of the workers."""
    label: str
    """A short name for the workers: `Trainer{0-5,7}`."""


class Reloaded(Message, frozen=True):
    """The answer to `raydap/reload`."""

    changed: tuple[ReloadedPart, ...]
    """The functions that have new code, which their next call runs."""
    added: tuple[ReloadedPart, ...]
    """The new functions, methods and constants."""
    kept: tuple[ReloadedPart, ...]
    """The functions that keep their old code, and statements that have not run, with the reasons."""
    running: tuple[ReloadedPart, ...]
    """The changed functions whose old code still runs."""
    unreached: tuple[ReloadedPart, ...]
    """The workers that keep the old code of the whole file, with the reasons. The names are ""."""
    unloaded: tuple[str, ...]
    """The keys of the workers that have not loaded the file. They run the new code if they import it."""
    text: str
    """All of this as text, for people to read."""
