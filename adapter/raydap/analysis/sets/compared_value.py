"""What a worker says of a value that is compared, as it was decoded."""

import msgspec

from raydap.protocol.value_messages import ArraySummary


class ArrayNumbers(ArraySummary, frozen=True, kw_only=True):
    """What a worker says of an array (inworker/array_numbers.py). Arrays with the same `places` are equal where each of
    them was looked at."""

    places: str


class Summary(msgspec.Struct, frozen=True):
    """What a worker says of a value (inworker/value_summary.py). `array` is None for what is none, and `error` is why
    there is no value."""

    type: str = ""
    text: str = ""
    hash: str = ""
    places: str = ""
    whole: bool = True
    array: ArrayNumbers | None = None
    error: str = ""
