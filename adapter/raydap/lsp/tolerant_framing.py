"""The framing of LSP for a server that outlives a client's faults."""

from raydap.wire.framing import Decoder, FramingError

_FIELD = b"Content-Length:"


class TolerantDecoder(Decoder):
    """Goes on after bytes that are no message, where the next header begins.

    Such bytes give one empty body, which is no JSON, so that the server answers them like all other faults.
    """

    _lost = False

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
            # What begins the buffer is at fault, unless it has been taken off already.
            self._skip(1 if len(self._buffer) == size else 0)
            return True
        self._lost = self._lost and len(bodies) == count
        return advanced

    def _skip(self, start: int) -> None:
        """Drops what is before the next header, which begins at `start` or later. The end stays, because a header may
        begin there."""
        begin = self._buffer.find(_FIELD, start)
        del self._buffer[: begin if begin >= 0 else max(len(self._buffer) - len(_FIELD), 0)]
