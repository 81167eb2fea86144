"""Distinct types for ids, so that mypy finds an id that is used as one of another kind."""

from typing import NewType

Handle = NewType("Handle", int)
"""An id that raydap gives to clients: 1000 or higher, never used again."""

LocalId = NewType("LocalId", int)
"""An id that one worker's debugpy has chosen: any integer, also 0."""

Seq = NewType("Seq", int)
"""The sequence number of a message on one connection."""

WorkerKey = NewType("WorkerKey", str)
"""The name of a worker while the bridge runs: Ray's worker id, or `host:port` for an explicit target."""

ClientId = NewType("ClientId", int)
"""The number of one connection of a client, such as an editor or a terminal."""
