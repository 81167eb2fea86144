import pytest
from hypothesis import given
from hypothesis import strategies as st

from raydap.wire.framing import Decoder, FramingError, encode

bodies = st.lists(st.binary(max_size=200), max_size=8)


def run(data: bytes, cuts: list[int]) -> tuple[list[bytes], str | None]:
    """Return all bodies and the fault, if any, of `data` fed in pieces."""
    decoder, got = Decoder(max_body=300), []
    ends = sorted(cut % (len(data) + 1) for cut in cuts)
    for begin, end in zip([0, *ends], [*ends, len(data)], strict=True):
        try:
            got += decoder.feed(data[begin:end])
        except FramingError as error:
            return got + error.bodies, str(error)
    return got, None


@given(bodies, st.lists(st.integers(min_value=0), max_size=20))
def test_what_is_encoded_is_decoded_however_it_is_cut(sent: list[bytes], cuts: list[int]) -> None:
    assert run(b"".join(map(encode, sent)), cuts) == (sent, None)


noise = st.one_of(
    st.binary(max_size=1100),
    st.sampled_from([b"Content-Length: 301\r\n\r\n", b"\r\n", b"Content-Length: 1\r\n", b"GET / HTTP/1.1\r\n\r\n"]),
)


@given(bodies, noise, bodies, st.lists(st.integers(min_value=0), max_size=20))
def test_a_fault_shows_at_the_same_place_however_it_is_cut(
    before: list[bytes], wrong: bytes, after: list[bytes], cuts: list[int]
) -> None:
    data = b"".join([*map(encode, before), wrong, *map(encode, after)])
    got, fault = run(data, [])
    assert run(data, cuts) == (got, fault)
    assert got[: len(before)] == before


@given(st.binary(max_size=3000))
def test_any_bytes_give_bodies_or_a_framing_error(data: bytes) -> None:
    decoder = Decoder()
    try:
        got = decoder.feed(data)
    except FramingError as error:
        with pytest.raises(FramingError, match=r"\.$"):
            decoder.feed(b"")
        got = error.bodies
    assert sum(map(len, got)) <= len(data)
