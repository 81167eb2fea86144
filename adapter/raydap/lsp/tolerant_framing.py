"""A decoder of LSP's framing that continues after malformed bytes."""

from raydap.wire.framing import Decoder, FramingError

_FIELD = b"Content-Length:"


class TolerantDecoder(Decoder):
    """A decoder that skips malformed bytes and continues at the next header.

    A sequence of malformed bytes yields one empty body. That is not valid JSON, so the server answers with an error.
    """

    _lost = False
    """Whether malformed bytes are being skipped, for which the empty body has been added already."""

    def _advance(self, bodies: list[bytes]) -> bool:
        count, size = len(bodies), len(self._buffer)
        try:
            advanced = super()._advance(bodies)
        except FramingError:
            if not self._lost:
                bodies.append(b"")
            self._lost = True
            self._length = None
            self._header_size = 0
            # Skip at least one byte, unless the base class has already removed the malformed line from the buffer.
            self._skip(1 if len(self._buffer) == size else 0)
            return True
        self._lost = self._lost and len(bodies) == count
        return advanced

    def _skip(self, start: int) -> None:
        """Drop the bytes before the next header, which begins at `start` or later.

        Without a header, the end of the buffer is kept, because a header may begin there.
        """
        begin = self._buffer.find(_FIELD, start)
        del self._buffer[: begin if begin >= 0 else max(len(self._buffer) - len(_FIELD), 0)]
