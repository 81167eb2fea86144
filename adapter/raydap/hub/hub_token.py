"""The token of a hub. A client that has it can debug every worker, and so run code there."""

import asyncio
import hashlib
import hmac
import os
import secrets
import shlex
import stat

FIRST_DELAY_S = 0.1
"""Seconds before the first wrong token is answered. Each further wrong token doubles the delay."""

LONGEST_DELAY_S = 5.0
"""The longest delay in seconds."""


class TokenError(Exception):
    """A token file cannot be used. The text is one sentence with what to do."""


def new() -> str:
    """Return 256 random bits, as text for headers, URLs and JSON strings."""
    return secrets.token_urlsafe(32)


def digest(token: str) -> str:
    """Return the SHA-256 of a token in hex. A hub keeps only this digest.

    It has no salt, because the token has 256 random bits.
    """
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def is_digest(text: str) -> bool:
    """Return whether the text is a SHA-256 in lowercase hex."""
    return len(text) == 64 and all(character in "0123456789abcdef" for character in text)


def read(path: str) -> str:
    """Return the token in the first line of a file. Raises TokenError.

    The file must belong to this user or to root, and only its owner may have access to it.
    """
    try:
        # Check the owner first: opening a pipe of another user could block forever.
        _check(path, os.stat(path))
        with open(path, encoding="ascii", errors="replace") as file:
            _check(path, os.fstat(file.fileno()))
            token = file.readline().strip()
    except OSError as error:
        raise TokenError(f'The token file "{path}" cannot be read: {error.strerror}.') from None
    if not token:
        raise TokenError(f'The token file "{path}" is empty; put the token into its first line.')
    if not is_sendable(token):
        raise TokenError(
            f'The token in "{path}" has characters that HTTP headers cannot contain; use letters and digits.'
        )
    return token


def _check(path: str, status: os.stat_result) -> None:
    if status.st_uid not in (0, os.getuid()):
        raise TokenError(
            f'The token file "{path}" belongs to another user, who knows the token; use a file of your own.'
        )
    if stat.S_IMODE(status.st_mode) & 0o077:
        raise TokenError(f'The token file "{path}" can be read by other users; run: chmod 600 {shlex.quote(path)}')


def is_sendable(token: str) -> bool:
    """Return whether an HTTP header can carry the token."""
    return bool(token) and token.isascii() and token.isprintable() and " " not in token


class TokenVerifier:
    """Compares tokens with the digest of the right one. Without a digest no token is required."""

    def __init__(self, digest: str | None) -> None:
        self._digest = digest
        self._failures = 0

    @property
    def token_required(self) -> bool:
        """Whether clients must send a token."""
        return self._digest is not None

    def accepts(self, token: str | None) -> bool:
        """Return whether the token is right, by a comparison in constant time.

        Each wrong token doubles the delay of `delay_refusal`. A right token resets it.
        """
        if self._digest is None:
            return True
        accepted = bool(token) and hmac.compare_digest(digest(token or ""), self._digest)
        self._failures = 0 if accepted else self._failures + 1
        return accepted

    async def delay_refusal(self) -> None:
        """Wait before a wrong token is answered. All connections share the number of wrong tokens."""
        await asyncio.sleep(min(FIRST_DELAY_S * 2 ** min(self._failures - 1, 16), LONGEST_DELAY_S))
