"""Names for the numbers and strings that must never be mixed up."""

from typing import NewType

Handle = NewType("Handle", int)
"""An id that raydap hands to clients; 1000 and up, never reused."""

LocalId = NewType("LocalId", int)
"""An id as one worker's debugpy uses it; any integer, 0 included."""

Seq = NewType("Seq", int)
"""A message's sequence number on one connection."""

WorkerKey = NewType("WorkerKey", str)
"""Names a worker for as long as the bridge runs: Ray's worker id, or `host:port` for an explicit target."""

ClientId = NewType("ClientId", int)
"""Names one connection of an editor, terminal or agent."""
