"""The framing of DAP: a header with the length, then the JSON of one message.

Source: DAP specification, Base protocol. Lines end with CRLF, and Content-Length is the only field of the
specification. Content-Type is accepted and ignored, because it is a field of LSP, which has the same framing, and some
client libraries send it.
"""

from typing import Final

MAX_BODY: Final = 64 * 1024 * 1024
MAX_HEADER: Final = 1024


class FramingError(ValueError):
    """The bytes do not follow DAP's framing. The text is one sentence."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.bodies: list[bytes] = []
        """The messages that the same feed had completed before the error."""


class Decoder:
    """Decodes a stream of bytes, in chunks of any size, into the bodies of messages.

    `max_body` is the longest body in bytes; it may change at any time. After a FramingError the decoder is unusable:
    every further feed raises the error again.
    """

    def __init__(self, max_body: int = MAX_BODY) -> None:
        self.max_body = max_body
        self._buffer = bytearray()
        self._header_size = 0
        self._length: int | None = None
        self._awaited: int | None = None
        self._broken: str | None = None

    def feed(self, data: bytes) -> list[bytes]:
        """Decode the next bytes, and return the bodies that they complete, in order. Raises FramingError."""
        if self._broken is not None:
            raise FramingError(self._broken)
        self._buffer += data
        bodies: list[bytes] = []
        try:
            while self._advance(bodies):
                pass
        except FramingError as error:
            error.bodies = bodies
            self._broken = str(error)
            self._buffer.clear()
            raise
        return bodies

    def _advance(self, bodies: list[bytes]) -> bool:
        """Remove one header line or one body from the buffer; return False if it is not complete yet."""
        if self._awaited is not None:
            return self._take_body(self._awaited, bodies)
        room = MAX_HEADER - self._header_size
        end = self._buffer.find(b"\r\n", 0, room)
        if end < 0:
            if len(self._buffer) >= room:
                raise FramingError(f"A message header is longer than {MAX_HEADER} bytes.")
            return False
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 2]
        self._header_size += end + 2
        if line:
            self._read_field(line)
        elif self._length is None:
            raise FramingError("A message header has no Content-Length.")
        else:
            self._awaited, self._length, self._header_size = self._length, None, 0
        return True

    def _take_body(self, size: int, bodies: list[bytes]) -> bool:
        if len(self._buffer) < size:
            return False
        # bytearray removes bytes at its front without moving the rest, so decoding a stream takes linear time.
        bodies.append(bytes(self._buffer[:size]))
        del self._buffer[:size]
        self._awaited = None
        return True

    def _read_field(self, line: bytes) -> None:
        name, colon, value = line.partition(b":")
        if not colon or name.lower() not in (b"content-length", b"content-type"):
            raise FramingError(f"The header line {_quoted(line)} is not part of the Debug Adapter Protocol.")
        if name.lower() == b"content-type":
            return
        digits = value.strip(b" \t")
        if not digits.isdigit():
            raise FramingError(f"The Content-Length {_quoted(digits)} is not a number.")
        if self._length is not None:
            raise FramingError("A message header has two Content-Lengths.")
        self._length = int(digits)
        if self._length > self.max_body:
            raise FramingError(f"A message of {_quoted(digits)} bytes is longer than the allowed {self.max_body}.")


def encode(body: bytes) -> bytes:
    """Return one message with its header."""
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def _quoted(line: bytes) -> str:
    text = line[:40].decode("ascii", "backslashreplace")
    printable = "".join(character if character.isprintable() else "?" for character in text)
    return f'"{printable}{"..." if len(line) > 40 else ""}"'
