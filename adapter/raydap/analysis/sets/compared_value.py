"""Summaries of values that workers send for a comparison, decoded."""

import msgspec

from raydap.protocol.value_messages import ArraySummary


class ArrayNumbers(ArraySummary, frozen=True, kw_only=True):
    """A worker's summary of an array (inworker/array_numbers.py)."""

    places: str
    """A hash of fixed places of a large array; "" for a small array. Equal hashes mean equal elements in these
    places."""


class Summary(msgspec.Struct, frozen=True):
    """A worker's summary of a value (inworker/value_summary.py)."""

    type: str = ""
    """The name of its type."""
    text: str = ""
    """The value as Python writes it, at most 600 characters."""
    hash: str = ""
    """A hash of the whole value; "" if an array in it was read only in parts."""
    places: str = ""
    """A hash of the value in which only some places of large arrays count."""
    whole: bool = True
    """Whether the value has so few parts that all of them count."""
    array: ArrayNumbers | None = None
    """The summary of an array; None for any other value."""
    error: str = ""
    """Why there is no value; otherwise ""."""
