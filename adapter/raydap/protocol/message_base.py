"""What all messages of raydap's own have in common (raydap_messages.py)."""

import msgspec


class Message(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """Base of all types here."""


class Arguments(Message, frozen=True, forbid_unknown_fields=True):
    """Base of the arguments of raydap's own requests: an unknown one is an error that names it."""
