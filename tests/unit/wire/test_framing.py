from collections.abc import Callable

import pytest

from raydap.wire.framing import MAX_HEADER, Decoder, FramingError, encode

Feed = Callable[[bytes, Decoder], list[bytes]]


def whole(data: bytes, decoder: Decoder) -> list[bytes]:
    return decoder.feed(data)


def byte_by_byte(data: bytes, decoder: Decoder) -> list[bytes]:
    bodies: list[bytes] = []
    for position in range(len(data)):
        try:
            bodies += decoder.feed(data[position : position + 1])
        except FramingError as error:
            error.bodies = bodies + error.bodies
            raise
    return bodies


fed = pytest.mark.parametrize("feed", [whole, byte_by_byte])


def test_encode_writes_the_header_of_the_specification() -> None:
    assert encode(b'{"a":"\xc3\xa4"}') == b'Content-Length: 10\r\n\r\n{"a":"\xc3\xa4"}'


@fed
def test_messages_are_cut_apart(feed: Feed) -> None:
    bodies = [b"{}", b"", b"\r\n\r\n", b"Content-Length: 5\r\n\r\n"]
    assert feed(b"".join(map(encode, bodies)), Decoder()) == bodies


@fed
@pytest.mark.parametrize(
    "header",
    [
        b"content-length: 2\r\n\r\n",
        b"CONTENT-LENGTH:2\r\n\r\n",
        b"Content-Length: \t 2 \r\n\r\n",
        b"Content-Length: 2\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n",
        b"Content-Type: x:y\r\nContent-Length: 02\r\n\r\n",
    ],
)
def test_headers_that_are_understood(feed: Feed, header: bytes) -> None:
    assert feed(header + b"{}" + header + b"[]", Decoder()) == [b"{}", b"[]"]


@fed
@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"GET / HTTP/1.1\r\n", 'The header line "GET / HTTP/1.1" is not part of the Debug Adapter Protocol.'),
        (b"Host: x\r\n", 'The header line "Host: x" is not part of the Debug Adapter Protocol.'),
        (b"\xff\x00:\r\n", 'The header line "\\xff?:" is not part of the Debug Adapter Protocol.'),
        (b"Content-Length : 2\r\n", 'The header line "Content-Length : 2" is not part of the Debug Adapter Protocol.'),
        (b"x" * 50 + b"\r\n", f'The header line "{"x" * 40}..." is not part of the Debug Adapter Protocol.'),
        (b"Content-Length: -1\r\n", 'The Content-Length "-1" is not a number.'),
        (b"Content-Length: 1_0\r\n", 'The Content-Length "1_0" is not a number.'),
        (b"Content-Length: \r\n", 'The Content-Length "" is not a number.'),
        (b"Content-Length: \xd9\xa3\r\n", 'The Content-Length "\\xd9\\xa3" is not a number.'),
        (b"Content-Length: 2\r\nContent-Length: 2\r\n", "A message header has two Content-Lengths."),
        (b"\r\n", "A message header has no Content-Length."),
        (b"Content-Type: x\r\n\r\n", "A message header has no Content-Length."),
        (b"x" * MAX_HEADER, "A message header is longer than 1024 bytes."),
        (b"Content-Type: x\r\n" * 100, "A message header is longer than 1024 bytes."),
        (b"Content-Length: 101\r\n", 'A message of "101" bytes is longer than the allowed 100.'),
    ],
)
def test_what_is_no_dap_is_refused_as_soon_as_it_shows(feed: Feed, data: bytes, text: str) -> None:
    """The error contains the messages before the fault, and the decoder stays broken."""
    decoder = Decoder(max_body=100)
    with pytest.raises(FramingError) as caught:
        feed(encode(b"{}") + encode(b"[]") + data, decoder)
    assert str(caught.value) == text
    assert caught.value.bodies == [b"{}", b"[]"]
    with pytest.raises(FramingError) as again:
        decoder.feed(encode(b"{}"))
    assert str(again.value) == text
    assert again.value.bodies == []


def test_a_body_of_exactly_the_limit_is_taken() -> None:
    assert Decoder(max_body=100).feed(encode(b"x" * 100)) == [b"x" * 100]


def test_a_header_of_exactly_the_limit_is_taken() -> None:
    rest = b"Content-Length: 2\r\n\r\n"
    filler = b"Content-Type: " + b"x" * (MAX_HEADER - len(rest) - len(b"Content-Type: \r\n")) + b"\r\n"
    assert Decoder().feed(filler + rest + b"{}") == [b"{}"]


def test_the_header_limit_is_per_message() -> None:
    assert len(Decoder().feed(encode(b"{}") * MAX_HEADER)) == MAX_HEADER
