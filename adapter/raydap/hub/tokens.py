"""The hub's own token: whoever has it may debug, which is to run code, in every worker."""

import asyncio
import hashlib
import hmac
import os
import secrets
import shlex
import stat

FIRST_PENALTY = 0.1
LONGEST_PENALTY = 5.0
"""Seconds that wrong tokens have to wait for their answer: the first one, doubled by each further one, up to here."""


class TokenError(Exception):
    """A token cannot be had from where it should come; the text is one sentence with what to do."""


def new() -> str:
    """256 random bits as text that fits into a header, a URL and a JSON string."""
    return secrets.token_urlsafe(32)


def digest(token: str) -> str:
    """SHA-256 in hex: all that a hub keeps of its token. A token of 256 random bits needs no salt."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def is_digest(text: str) -> bool:
    return len(text) == 64 and all(character in "0123456789abcdef" for character in text)


def read(path: str) -> str:
    """The first line of a file that only its owner can read; raises TokenError."""
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            mode = os.fstat(file.fileno()).st_mode
            if stat.S_IMODE(mode) & 0o077:
                text = f'The token file "{path}" can be read by others; run: chmod 600 {shlex.quote(path)}'
                raise TokenError(text)
            token = file.readline().strip()
    except OSError as error:
        raise TokenError(f'The token file "{path}" cannot be read: {error.strerror}.') from None
    if not token:
        raise TokenError(f'The token file "{path}" is empty; its first line has to be the token.')
    if not is_sendable(token):
        raise TokenError(f'The token in "{path}" has characters that no header can carry; use letters and digits.')
    return token


def is_sendable(token: str) -> bool:
    """Whether a header can carry it."""
    return bool(token) and token.isascii() and token.isprintable() and " " not in token


class Guard:
    """Knows the right token by its digest; None lets everybody in."""

    def __init__(self, digest: str | None) -> None:
        self._digest = digest
        self._failures = 0

    @property
    def open(self) -> bool:
        """No token is wanted."""
        return self._digest is None

    def admits(self, token: str | None) -> bool:
        """Compares in constant time. A refusal makes the next `penalty` longer, a success ends them."""
        if self._digest is None:
            return True
        admitted = bool(token) and hmac.compare_digest(digest(token or ""), self._digest)
        self._failures = 0 if admitted else self._failures + 1
        return admitted

    async def penalty(self) -> None:
        """Waits before a wrong token is answered: longer with each failure, whichever connection it came from."""
        await asyncio.sleep(min(FIRST_PENALTY * 2 ** min(self._failures - 1, 16), LONGEST_PENALTY))
