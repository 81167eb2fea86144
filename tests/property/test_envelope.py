import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from raydap.wire import envelope
from raydap.wire.envelope import EnvelopeError, dump, load, read

# Include surrogates, because debugpy sends lone ones.
text = st.text(st.characters(), max_size=20)
names = st.text(st.characters(), min_size=1, max_size=20)
numbers = st.integers(min_value=0, max_value=2**40)
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=4),
    max_leaves=15,
)


@given(values)
def test_load_gives_back_what_was_dumped(value: Any) -> None:
    assert load(dump(value)) == value
    assert json.loads(dump(value)) == value


@given(values)
def test_load_reads_what_the_standard_library_wrote(value: Any) -> None:
    assert load(json.dumps(value).encode()) == value


@given(numbers, names, values)
def test_requests_survive(seq: int, command: str, arguments: Any) -> None:
    raw = dump(arguments)
    message = read(envelope.request(seq, command, raw))
    assert (message.type, message.seq, message.command) == ("request", seq, command)
    assert message.arguments is not None
    assert load(message.arguments) == arguments


@given(numbers, numbers, names, text, values)
def test_responses_survive(seq: int, request_seq: int, command: str, complaint: str, body: Any) -> None:
    good = read(envelope.response(seq, request_seq, command, dump(body)))
    bad = read(envelope.failure(seq, request_seq, command, complaint, dump(body)))
    assert (good.type, good.request_seq, good.success, good.command) == ("response", request_seq, True, command)
    assert (bad.type, bad.request_seq, bad.success, bad.message) == ("response", request_seq, False, complaint)
    assert good.body is not None
    assert good.body == bad.body or "\\ud" in ascii([command, complaint])
    assert load(good.body) == body


@given(numbers, st.text(min_size=1, max_size=20), values)
def test_a_body_in_utf8_passes_byte_for_byte(seq: int, name: str, body: Any) -> None:
    raw = json.dumps(body, ensure_ascii=True, indent=1).encode()
    received = read(envelope.event(seq, name, raw)).body
    assert received == raw or "\\ud" in ascii(body)


@given(st.binary(max_size=100) | values.map(dump))
def test_any_bytes_are_a_message_or_an_envelope_error(data: bytes) -> None:
    try:
        kind = read(data).type
    except EnvelopeError:
        kind = "refused"
    assert kind in ("request", "response", "event", "refused")
