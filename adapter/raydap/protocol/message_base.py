"""The base classes of raydap's own messages (raydap_messages.py)."""

import msgspec


class Message(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """The base of all messages, and of the objects in them. Field names are in camel case on the wire."""


class Arguments(Message, frozen=True, forbid_unknown_fields=True):
    """The base of the arguments of raydap's own requests. An unknown argument is an error that names it."""
