"""Places in a text: Python's, in bytes of UTF-8, as the LSP client counts them."""

from lsprotocol import types

from raydap.lsp.analysis.findings import Span


def units(text: str, encoding: str) -> int:
    """The length of a text in the units of the client."""
    codec, size = _UNIT_SIZES.get(encoding, ("utf-8", 1))
    return len(text.encode(codec, "surrogatepass")) // size


_UNIT_SIZES = {"utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}


class Positions:
    """`encoding` is what server and client have agreed on (LSP, PositionEncodingKind)."""

    def __init__(self, text: str, encoding: str) -> None:
        # Unlike those of str, the lines of bytes end as those of LSP and Python do: at CR, LF or both.
        self._lines = text.encode("utf-8", "surrogatepass").splitlines()
        self._codec = _UNIT_SIZES.get(encoding)

    def range(self, span: Span) -> types.Range:
        return types.Range(self._position(span.line, span.column), self._position(span.end_line, span.end_column))

    def end_of_line(self, line: int) -> types.Range:
        """The empty range there. `line` counts from 1."""
        position = self._position(line, len(self._lines[line - 1]))
        return types.Range(position, position)

    def _position(self, line: int, column: int) -> types.Position:
        if self._codec is not None and column > 0:
            before = self._lines[line - 1][:column].decode("utf-8", "surrogatepass")
            codec, size = self._codec
            column = len(before.encode(codec, "surrogatepass")) // size
        return types.Position(line - 1, column)
