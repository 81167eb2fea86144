"""After any bytes, the messages that follow are read."""

from hypothesis import example, given
from hypothesis import strategies as st

from raydap.lsp.tolerant_framing import TolerantDecoder
from raydap.wire.framing import encode
from support.examples import examples
from support.garbage import GARBAGE


@examples(200)
@example([b"Content-Length:" + b"9" * 2000], 30)
@given(st.lists(st.one_of(st.binary(max_size=40), st.sampled_from(GARBAGE)), max_size=6), st.integers(1, 30))
def test_any_bytes_in_any_pieces(pieces: list[bytes], size: int) -> None:
    decoder = TolerantDecoder()
    data = b"".join(pieces) + b"\r\n"
    found: list[bytes] = []
    for start in range(0, len(data), size):
        found += decoder.feed(data[start : start + size])
    # The remaining bytes may be the beginning of a body, so send several messages.
    for _ in range(40):
        found += decoder.feed(encode(b'{"last": 1}'))
    assert found[-1] == b'{"last": 1}'
