"""Ray's authentication token (Ray 2.52 and later; RAY_AUTH_MODE=token on the cluster)."""

import os
from collections.abc import Mapping
from pathlib import Path


def wanted(environ: Mapping[str, str]) -> bool:
    """Whether the environment says from the start that clusters want a token."""
    return environ.get("RAY_AUTH_MODE", "").strip().lower() == "token"


def find(environ: Mapping[str, str]) -> str | None:
    """The token of RAY_AUTH_TOKEN, the file of RAY_AUTH_TOKEN_PATH or ~/.ray/auth_token; the first that is set."""
    token = environ.get("RAY_AUTH_TOKEN", "").strip()
    if token:
        return token
    home = environ.get("HOME") or os.path.expanduser("~")
    path = environ.get("RAY_AUTH_TOKEN_PATH") or os.path.join(home, ".ray", "auth_token")
    try:
        token = Path(path).read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        return None
    # A header cannot carry line breaks or worse; such a file holds something else.
    return token if token.isascii() and token.isprintable() and token else None
