"""Conversion of Python's positions, which count bytes of UTF-8, to those of the LSP client."""

from lsprotocol import types

from raydap.lsp.analysis.findings import TextSpan


def units(text: str, encoding: str) -> int:
    """Return the length of a text in the client's units (LSP, PositionEncodingKind)."""
    codec, size = _UNIT_SIZES.get(encoding, ("utf-8", 1))
    return len(text.encode(codec, "surrogatepass")) // size


_UNIT_SIZES = {"utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}
"""Python's codec for each encoding, and the bytes of a unit."""


class Positions:
    """The positions in one text. `encoding` is what server and client have agreed on (LSP, PositionEncodingKind)."""

    def __init__(self, text: str, encoding: str) -> None:
        # Split bytes, because `str.splitlines` also splits at characters that end no line in Python and LSP.
        self._lines = text.encode("utf-8", "surrogatepass").splitlines()
        self._codec = _UNIT_SIZES.get(encoding)
        self._is_ascii = [line.isascii() for line in self._lines]
        """Whether each line needs no conversion, so that a long line with many positions is not read for each."""

    def range(self, span: TextSpan) -> types.Range:
        """Return the client's range of a span."""
        return types.Range(self._position(span.line, span.column), self._position(span.end_line, span.end_column))

    def end_of_line(self, line: int) -> types.Range:
        """Return the empty range at the end of a line, which counts from 1."""
        position = self._position(line, len(self._lines[line - 1]))
        return types.Range(position, position)

    def _position(self, line: int, column: int) -> types.Position:
        if self._codec is not None and not self._is_ascii[line - 1]:
            before = self._lines[line - 1][:column].decode("utf-8", "surrogatepass")
            codec, size = self._codec
            column = len(before.encode(codec, "surrogatepass")) // size
        return types.Position(line - 1, column)
