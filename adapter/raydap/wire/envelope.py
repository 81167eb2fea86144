r"""The fields that all DAP messages have in common. `arguments` and `body` stay undecoded JSON until `load` is called.

Source: DAP specification, ProtocolMessage, Request, Event and Response. debugpy sends JSON that strict parsers refuse:
lone surrogates such as "\udc80" from a failed evaluate or an odd __repr__. The standard library's parser accepts them,
so it is the fallback. It writes them as escapes, because UTF-8 cannot encode them.
"""

import json
import math
from collections.abc import Mapping
from typing import Any

import msgspec

Body = Mapping[str, Any] | msgspec.Struct | bytes | None
"""A body or arguments: a value to encode, or JSON that is sent unchanged, or None for no body."""

_ABSENT = msgspec.Raw()


class EnvelopeError(ValueError):
    """The bytes are not readable JSON, or not a DAP message. The text is one sentence."""


class Envelope(msgspec.Struct, frozen=True, gc=False, rename={"raw_arguments": "arguments", "raw_body": "body"}):
    """One message. After `read`, the fields that its type requires are set."""

    type: str
    """`request`, `event` or `response`."""
    seq: int
    """The sender's number of the message."""
    command: str = ""
    """Set in a request and a response."""
    event: str = ""
    """The name of an event."""
    request_seq: int = -1
    """The `seq` of the request that a response answers."""
    success: bool | None = None
    """Whether a response is successful; None in other messages."""
    message: str | None = None
    """The error in a failed response."""
    raw_arguments: msgspec.Raw = _ABSENT
    """The JSON of a request's arguments; empty if there are none."""
    raw_body: msgspec.Raw = _ABSENT
    """The JSON of the body of a response or an event; empty if there is none."""

    @property
    def arguments(self) -> bytes | None:
        """The arguments of a request as received, in JSON; None if there are none."""
        return bytes(self.raw_arguments) or None

    @property
    def body(self) -> bytes | None:
        """The body of a response or an event as received, in JSON; None if there is none."""
        return bytes(self.raw_body) or None


_NEEDED = {"request": ("command",), "event": ("event",), "response": ("command", "request_seq", "success")}
_MISSING = ("", -1, None)

_PLAIN_FIELDS = [name for name in Envelope.__struct_fields__ if not name.startswith("raw_")]

_decoder = msgspec.json.Decoder(Envelope)


def read(data: bytes) -> Envelope:
    """Return the envelope of one message. Raises EnvelopeError if the bytes are not a DAP message."""
    try:
        envelope = _decoder.decode(data)
    except msgspec.ValidationError as error:
        raise EnvelopeError(f"The message is not a DAP message: {error}.") from None
    except ValueError:
        envelope = _read_leniently(data)
    except RecursionError:
        raise _too_deep() from None
    needed = _NEEDED.get(envelope.type)
    if needed is None:
        raise EnvelopeError(f"The message's type is {envelope.type!a}, not request, response or event.")
    for name in needed:
        if getattr(envelope, name) in _MISSING:
            raise EnvelopeError(f'The {envelope.type} has no "{name}".')
    return envelope


def load(raw: bytes) -> Any:
    """Decode JSON, such as a body. Raises EnvelopeError if it cannot be read.

    NaN, infinities and numbers too large for a float become None, because JavaScript's JSON.stringify writes null for
    them.
    """
    try:
        return msgspec.json.decode(raw)
    except ValueError:
        return _load_leniently(raw)
    except RecursionError:
        raise _too_deep() from None


def dump(value: Any) -> bytes:
    """Encode a value as JSON in UTF-8. Raises EnvelopeError if it is nested too deeply."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return _dump_leniently(value)
    except RecursionError:
        raise _too_deep() from None


def request(seq: int, command: str, arguments: Body = None) -> bytes:
    """Encode a request. Raises EnvelopeError if the arguments are nested too deeply."""
    return b'{"seq":%d,"type":"request","command":%b%b}' % (seq, dump(command), _part(b"arguments", arguments))


def response(seq: int, request_seq: int, command: str, body: Body = None) -> bytes:
    """Encode a successful response. Raises EnvelopeError if the body is nested too deeply."""
    head = b'{"seq":%d,"type":"response","request_seq":%d,"success":true,"command":%b%b}'
    return head % (seq, request_seq, dump(command), _part(b"body", body))


def failure(seq: int, request_seq: int, command: str, message: str, body: Body = None) -> bytes:
    """Encode a failed response; `message` is its error. Raises EnvelopeError if the body is nested too deeply."""
    head = b'{"seq":%d,"type":"response","request_seq":%d,"success":false,"command":%b,"message":%b%b}'
    return head % (seq, request_seq, dump(command), dump(message), _part(b"body", body))


def event(seq: int, name: str, body: Body = None) -> bytes:
    """Encode an event. Raises EnvelopeError if the body is nested too deeply."""
    return b'{"seq":%d,"type":"event","event":%b%b}' % (seq, dump(name), _part(b"body", body))


def _part(name: bytes, body: Body) -> bytes:
    if body is None:
        return b""
    return b',"%b":%b' % (name, body if isinstance(body, bytes) else dump(body))


def _read_leniently(data: bytes) -> Envelope:
    value = _load_leniently(data)
    if not isinstance(value, dict):
        raise EnvelopeError("The message is not a JSON object.")
    # Convert the known fields only, because msgspec.convert fails on a key that UTF-8 cannot encode.
    plain = {name: value[name] for name in _PLAIN_FIELDS if name in value}
    raw = {f"raw_{name}": msgspec.Raw(_dump_leniently(value[name])) for name in ("arguments", "body") if name in value}
    try:
        return msgspec.structs.replace(msgspec.convert(plain, Envelope), **raw)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        # UnicodeEncodeError: msgspec tries to convert a string to a number field, and fails on a lone surrogate in it.
        raise EnvelopeError(f"The message is not a DAP message: {error}.") from None


def _load_leniently(data: bytes) -> Any:
    try:
        text = data.decode("utf-8", "surrogatepass")
        return json.loads(text, parse_constant=lambda _: None, parse_float=_finite)
    except ValueError as error:
        raise EnvelopeError(f"The message is not JSON: {error}.") from None
    except RecursionError:
        raise _too_deep() from None


def _dump_leniently(value: Any) -> bytes:
    try:
        return json.dumps(msgspec.to_builtins(value), ensure_ascii=True, separators=(",", ":")).encode("ascii")
    except RecursionError:
        raise _too_deep() from None


def _finite(digits: str) -> float | None:
    number = float(digits)
    return number if math.isfinite(number) else None


def _too_deep() -> EnvelopeError:
    return EnvelopeError("The message is nested too deeply.")
