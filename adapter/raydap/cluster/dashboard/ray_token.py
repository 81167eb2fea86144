"""Ray's authentication token (Ray 2.52 and later, with RAY_AUTH_MODE=token on the cluster)."""

import os
from collections.abc import Mapping

from raydap import safe_files
from raydap.errors import Code, Problem


def wanted(environ: Mapping[str, str]) -> bool:
    """Return whether the environment asks for the token."""
    return environ.get("RAY_AUTH_MODE", "").strip().lower() == "token"


def with_token_mode(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment with which Ray's own client sends the token."""
    return {**environ, "RAY_AUTH_MODE": "token"}


def problem(who: str, token: str | None) -> Problem:
    """Return the problem that a cluster has refused raydap.

    `token` is the token that was sent; None if none was sent.
    """
    if token is None:
        text = f"{who} requires a token; set RAY_AUTH_TOKEN or RAY_AUTH_TOKEN_PATH, or write it to ~/.ray/auth_token."
        return Problem(Code.TOKEN_WANTED, text)
    text = f"{who} refuses the token; put the cluster's token into RAY_AUTH_TOKEN or ~/.ray/auth_token."
    return Problem(Code.TOKEN_REFUSED, text)


def find(environ: Mapping[str, str]) -> str | None:
    """Return the user's token; None without a valid one.

    The token is in RAY_AUTH_TOKEN, else in the file that RAY_AUTH_TOKEN_PATH names, else in ~/.ray/auth_token.
    """
    token = environ.get("RAY_AUTH_TOKEN", "").strip()
    if token:
        return token
    home = environ.get("HOME") or os.path.expanduser("~")
    path = environ.get("RAY_AUTH_TOKEN_PATH") or os.path.join(home, ".ray", "auth_token")
    try:
        token = safe_files.read_regular(path).decode().strip()
    except (OSError, ValueError):
        return None
    # A header contains printable ASCII only, so any other text is not a token.
    return token if token.isascii() and token.isprintable() and token else None
