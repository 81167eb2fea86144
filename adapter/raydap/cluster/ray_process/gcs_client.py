"""Ray's client of a GCS; used by operations of raydap_process.py."""

import socket
from typing import Any

_CONNECT_TIMEOUT_S = 3.0


def gcs_client(address: str) -> Any:
    """Return Ray's client of the GCS at `host:port`. Raises OSError if nothing listens there."""
    # It would retry for a minute where nothing listens.
    host, _, port = address.rpartition(":")
    socket.create_connection((host.strip("[]"), int(port)), timeout=_CONNECT_TIMEOUT_S).close()

    from ray._raylet import GcsClient  # type: ignore[attr-defined,unused-ignore]  # It is compiled.

    return GcsClient(address=address)
