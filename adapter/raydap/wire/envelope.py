"""What every DAP message has in common; `arguments` and `body` stay the bytes they came as until somebody asks.

Source: DAP specification, ProtocolMessage, Request, Event and Response. debugpy emits JSON that strict parsers refuse:
lone surrogates such as "\\udc80" from a failed evaluate or an odd __repr__. The standard library reads them, so it is
the fallback; it writes them as escapes, because no UTF-8 exists for them.
"""

import json
import math
from collections.abc import Mapping
from typing import Any

import msgspec

Body = Mapping[str, Any] | msgspec.Struct | bytes | None
"""A body or arguments: a value to be encoded, JSON that is sent as it is, or nothing."""

_ABSENT = msgspec.Raw()


class EnvelopeError(ValueError):
    """The bytes are JSON that is no DAP message, or no JSON that can be read; the text is one sentence."""


class Envelope(msgspec.Struct, frozen=True, gc=False, rename={"raw_arguments": "arguments", "raw_body": "body"}):
    """One message. What its type needs is there: `command` of a request, `event` of an event, `command`, `request_seq`
    and `success` of a response.
    """

    type: str
    seq: int
    command: str = ""
    event: str = ""
    request_seq: int = -1
    success: bool | None = None
    message: str | None = None
    raw_arguments: msgspec.Raw = _ABSENT
    raw_body: msgspec.Raw = _ABSENT

    @property
    def arguments(self) -> bytes | None:
        """The arguments of a request as they came, as JSON; None if there are none."""
        return bytes(self.raw_arguments) or None

    @property
    def body(self) -> bytes | None:
        """The body of a response or an event as it came, as JSON; None if there is none."""
        return bytes(self.raw_body) or None


_NEEDED = {"request": ("command",), "event": ("event",), "response": ("command", "request_seq", "success")}
_MISSING = ("", -1, None)

_PLAIN_FIELDS = [name for name in Envelope.__struct_fields__ if not name.startswith("raw_")]

_decoder = msgspec.json.Decoder(Envelope)


def read(data: bytes) -> Envelope:
    """The envelope of one message; raises EnvelopeError for anything that is no DAP message."""
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
    """The value of some JSON, such as a body; raises EnvelopeError if it cannot be read.

    NaN, infinities and numbers too large for a float become None, as JavaScript's JSON.stringify writes them.
    """
    try:
        return msgspec.json.decode(raw)
    except ValueError:
        return _load_leniently(raw)
    except RecursionError:
        raise _too_deep() from None


def dump(value: Any) -> bytes:
    """A value as JSON in UTF-8; raises EnvelopeError if it is nested too deeply."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return _dump_leniently(value)
    except RecursionError:
        raise _too_deep() from None


def request(seq: int, command: str, arguments: Body = None) -> bytes:
    """A request. This and those below raise EnvelopeError if what they are to encode is nested too deeply."""
    return b'{"seq":%d,"type":"request","command":%b%b}' % (seq, dump(command), _part(b"arguments", arguments))


def response(seq: int, request_seq: int, command: str, body: Body = None) -> bytes:
    """A successful response."""
    head = b'{"seq":%d,"type":"response","request_seq":%d,"success":true,"command":%b%b}'
    return head % (seq, request_seq, dump(command), _part(b"body", body))


def failure(seq: int, request_seq: int, command: str, message: str, body: Body = None) -> bytes:
    """A failed response."""
    head = b'{"seq":%d,"type":"response","request_seq":%d,"success":false,"command":%b,"message":%b%b}'
    return head % (seq, request_seq, dump(command), dump(message), _part(b"body", body))


def event(seq: int, name: str, body: Body = None) -> bytes:
    """An event."""
    return b'{"seq":%d,"type":"event","event":%b%b}' % (seq, dump(name), _part(b"body", body))


def _part(name: bytes, body: Body) -> bytes:
    if body is None:
        return b""
    return b',"%b":%b' % (name, body if isinstance(body, bytes) else dump(body))


def _read_leniently(data: bytes) -> Envelope:
    value = _load_leniently(data)
    if not isinstance(value, dict):
        raise EnvelopeError("The message is not a JSON object.")
    # Only the known fields, because msgspec.convert fails on a key that is no UTF-8.
    plain = {name: value[name] for name in _PLAIN_FIELDS if name in value}
    raw = {f"raw_{name}": msgspec.Raw(_dump_leniently(value[name])) for name in ("arguments", "body") if name in value}
    try:
        return msgspec.structs.replace(msgspec.convert(plain, Envelope), **raw)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        # The latter is for a lone surrogate where a number is wanted: msgspec tries to read one from the string.
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
