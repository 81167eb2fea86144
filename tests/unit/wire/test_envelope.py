import json

import pytest

from raydap.wire import envelope
from raydap.wire.envelope import EnvelopeError, dump, load, read


def test_a_request_is_read() -> None:
    message = read(b'{"seq": 0, "type": "request", "command": "next", "arguments": {"threadId": 0}}')
    assert (message.type, message.seq, message.command) == ("request", 0, "next")
    assert message.arguments == b'{"threadId": 0}'
    assert message.body is None


def test_a_response_is_read() -> None:
    message = read(
        b'{"seq":1,"type":"response","request_seq":0,"success":false,"command":"next","message":"no","body":[ 1]}'
    )
    assert (message.request_seq, message.success, message.command, message.message) == (0, False, "next", "no")
    assert message.body == b"[ 1]"
    assert message.arguments is None


def test_an_event_is_read() -> None:
    message = read(b'{"seq":1,"type":"event","event":"stopped"}')
    assert (message.type, message.event, message.body) == ("event", "stopped", None)


def test_null_is_a_body_and_not_the_absence_of_one() -> None:
    assert read(b'{"seq":1,"type":"event","event":"x","body":null}').body == b"null"


@pytest.mark.parametrize(
    "body",
    [
        b'{ "unknown" : [1.50, 1E2, "\\u00e9\\/"] }',
        b'{"a":1,"a":2}',
        b"123456789012345678901234567890",
        '"ä€😀"'.encode(),
        b'"\\ud83d\\ude00"',
    ],
)
def test_a_body_is_forwarded_byte_for_byte(body: bytes) -> None:
    read_body = read(b'{"seq":1,"type":"event","event":"x","body":' + body + b"}").body
    assert read_body == body
    assert read(envelope.event(2, "x", read_body)).body == body


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"Hello", "not JSON"),
        (b"\xff", "not JSON"),
        (b'\xef\xbb\xbf{"seq":1,"type":"event","event":"x"}', "not JSON"),
        (b'{"seq":1,"type":"event","event":"x"} x', "not JSON"),
        (b"[]", "not a DAP message: Expected `object`, got `array`"),
        (b"NaN", "not a JSON object"),
        (b"{}", "missing required field `type`"),
        (b'{"type":"event","event":"x"}', "missing required field `seq`"),
        (b'{"seq":"1","type":"event","event":"x"}', r"Expected `int`, got `str` - at `\$.seq`"),
        (b'{"seq":true,"type":"event","event":"x"}', r"Expected `int`, got `bool` - at `\$.seq`"),
        (b'{"seq":NaN,"type":"event","event":"x"}', r"Expected `int`, got `null` - at `\$.seq`"),
        (b'{"seq":1,"type":"event","event":5}', r"at `\$.event`"),
        (b'{"seq":1,"type":"\\u00e4"}', r"type is '\\xe4', not request, response or event"),
        (b'{"seq":1,"type":"request"}', 'The request has no "command"'),
        (b'{"seq":1,"type":"request","command":null}', r"Expected `str`, got `null` - at `\$.command`"),
        (b'{"seq":1,"type":"event"}', 'The event has no "event"'),
        (b'{"seq":1,"type":"response","request_seq":1,"success":true}', 'The response has no "command"'),
        (b'{"seq":1,"type":"response","command":"x","success":true}', 'The response has no "request_seq"'),
        (b'{"seq":1,"type":"response","command":"x","request_seq":1}', 'The response has no "success"'),
        (b'{"seq":1,"type":"event","event":"x","body":' + b"[" * 100_000, "nested too deeply"),
        (b'{"seq":NaN,"body":' + b"[" * 100_000, "nested too deeply"),
        (b'{"seq":' + b"1" * 5000 + b',"type":"event","event":"x"}', "out of range"),
    ],
)
def test_what_is_no_message_is_refused_in_one_sentence(data: bytes, text: str) -> None:
    with pytest.raises(EnvelopeError, match=text) as caught:
        read(data)
    assert str(caught.value).startswith("The ")
    assert str(caught.value).endswith(".")


def test_a_lone_surrogate_stays_an_escape() -> None:
    """debugpy answers a failed evaluate like this: neither the message nor the body is UTF-8."""
    message = read(
        b'{"seq":1,"type":"response","request_seq":2,"success":false,"command":"evaluate",'
        b'"message":"no \\udc80","body":{"result":"\\udc80 \xc3\xa4"}}'
    )
    assert message.message == "no \udc80"
    assert message.body == b'{"result":"\\udc80 \\u00e4"}'
    sent = envelope.failure(9, 8, "evaluate", message.message, message.body)
    assert json.loads(sent) == {
        "seq": 9,
        "type": "response",
        "request_seq": 8,
        "success": False,
        "command": "evaluate",
        "message": "no \udc80",
        "body": {"result": "\udc80 ä"},
    }


def test_a_lone_surrogate_in_raw_utf8_is_read_too() -> None:
    assert read(b'{"seq":1,"type":"event","event":"x","body":"\xed\xb2\x80\\ud800"}').body == b'"\\udc80\\ud800"'


def test_an_unknown_field_with_a_lone_surrogate_for_a_name_is_dropped() -> None:
    assert read(b'{"\\udc80":1,"seq":1,"type":"event","event":"x"}').event == "x"


@pytest.mark.parametrize("field", ["seq", "request_seq", "success"])
def test_a_lone_surrogate_where_something_else_is_wanted_is_an_envelope_error(field: str) -> None:
    message = {"type": "response", "seq": 1, "request_seq": 1, "success": True, "command": "x", field: "\ud83d"}
    with pytest.raises(EnvelopeError):
        read(json.dumps(message).encode())


def test_numbers_that_json_has_not_become_null() -> None:
    message = read(b'{"seq":1,"type":"request","command":"x","arguments":[NaN,-Infinity,1e999,1.5]}')
    assert message.arguments == b"[null,null,null,1.5]"


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (b'{"a":[0,-1,1.5,true,null,"x"]}', {"a": [0, -1, 1.5, True, None, "x"]}),
        (b"123456789012345678901234567890", 123456789012345678901234567890),
        (b'"\\udc80"', "\udc80"),
        (b"[NaN,1e999]", [None, None]),
    ],
)
def test_load(raw: bytes, value: object) -> None:
    assert load(raw) == value


@pytest.mark.parametrize(
    "raw", [b"", b"{", b"'", b'"\xff"', b"1" * 5000, b"[" * 100_000, b'["\\udc80",' + b"[" * 100_000]
)
def test_what_cannot_be_loaded_is_an_envelope_error(raw: bytes) -> None:
    with pytest.raises(EnvelopeError):
        load(raw)


def test_dump_writes_utf8_and_escapes_only_what_has_none() -> None:
    assert dump({"a": "ä"}) == '{"a":"ä"}'.encode()
    assert dump({"a": ["ä\udc80", 2**70]}) == b'{"a":["\\u00e4\\udc80",1180591620717411303424]}'


@pytest.mark.parametrize("leaf", ["", "\udc80"])
def test_what_is_too_deep_to_dump_is_an_envelope_error(leaf: str) -> None:
    deep: object = leaf
    for _ in range(200_000):
        deep = [leaf, deep]
    with pytest.raises(EnvelopeError, match="nested too deeply"):
        dump(deep)


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        (envelope.request(1, "threads"), b'{"seq":1,"type":"request","command":"threads"}'),
        (envelope.request(1, 'a"', b"{ }"), b'{"seq":1,"type":"request","command":"a\\"","arguments":{ }}'),
        (
            envelope.response(1, 0, "next"),
            b'{"seq":1,"type":"response","request_seq":0,"success":true,"command":"next"}',
        ),
        (
            envelope.response(1, 0, "next", b"null"),
            b'{"seq":1,"type":"response","request_seq":0,"success":true,"command":"next","body":null}',
        ),
        (
            envelope.failure(1, 0, "next", "100%"),
            b'{"seq":1,"type":"response","request_seq":0,"success":false,"command":"next","message":"100%"}',
        ),
        (
            envelope.failure(1, 0, "next", "", b"%d"),
            b'{"seq":1,"type":"response","request_seq":0,"success":false,"command":"next","message":"","body":%d}',
        ),
        (envelope.event(1, "initialized"), b'{"seq":1,"type":"event","event":"initialized"}'),
        (envelope.event(1, "x", b"[ ]"), b'{"seq":1,"type":"event","event":"x","body":[ ]}'),
    ],
)
def test_messages_are_composed_around_the_raw_part(sent: bytes, expected: bytes) -> None:
    assert sent == expected
