"""The hub's own token. A client that has it may debug every worker, and so run code there."""

import asyncio
import hashlib
import hmac
import os
import secrets
import shlex
import stat

FIRST_DELAY_S = 0.1
LONGEST_DELAY_S = 5.0
"""Seconds until a wrong token is answered: after the first one, and at most. Each further one doubles them."""


class TokenError(Exception):
    """No token can be read where it should be; the text is one sentence with what to do."""


def new() -> str:
    """256 random bits, as text for headers, URLs and JSON strings."""
    return secrets.token_urlsafe(32)


def digest(token: str) -> str:
    """SHA-256 in hex, without salt, because the token has 256 random bits. A hub keeps the digest only."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def is_digest(text: str) -> bool:
    return len(text) == 64 and all(character in "0123456789abcdef" for character in text)


def read(path: str) -> str:
    """Return the first line of a file that only its owner can read, who is this user or root. Raises TokenError."""
    try:
        # A pipe of another user would never be opened.
        _check(path, os.stat(path))
        with open(path, encoding="ascii", errors="replace") as file:
            _check(path, os.fstat(file.fileno()))
            token = file.readline().strip()
    except OSError as error:
        raise TokenError(f'The token file "{path}" cannot be read: {error.strerror}.') from None
    if not token:
        raise TokenError(f'The token file "{path}" is empty; its first line has to be the token.')
    if not is_sendable(token):
        raise TokenError(f'The token in "{path}" has characters that no header can carry; use letters and digits.')
    return token


def _check(path: str, status: os.stat_result) -> None:
    if status.st_uid not in (0, os.getuid()):
        raise TokenError(f'The token file "{path}" belongs to another user, who knows the token; use a file of yours.')
    if stat.S_IMODE(status.st_mode) & 0o077:
        raise TokenError(f'The token file "{path}" can be read by others; run: chmod 600 {shlex.quote(path)}')


def is_sendable(token: str) -> bool:
    """Whether a header can carry it."""
    return bool(token) and token.isascii() and token.isprintable() and " " not in token


class TokenVerifier:
    """Knows the right token by its digest. Without a digest no token is required."""

    def __init__(self, digest: str | None) -> None:
        self._digest = digest
        self._failures = 0

    @property
    def token_required(self) -> bool:
        return self._digest is not None

    def accepts(self, token: str | None) -> bool:
        """Compares in constant time. Each refusal doubles the delay of `delay_refusal`; a success resets it."""
        if self._digest is None:
            return True
        accepted = bool(token) and hmac.compare_digest(digest(token or ""), self._digest)
        self._failures = 0 if accepted else self._failures + 1
        return accepted

    async def delay_refusal(self) -> None:
        """Waits before a wrong token is answered. All connections share the number of failures."""
        await asyncio.sleep(min(FIRST_DELAY_S * 2 ** min(self._failures - 1, 16), LONGEST_DELAY_S))
