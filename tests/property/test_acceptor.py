"""A hub's acceptor, however bytes are cut: only the right token admits a client; its messages arrive unchanged."""

from hypothesis import given
from hypothesis import strategies as st

from fuzz.acceptor import TOKEN, visit
from fuzz.corpus import frame, framed

texts = st.lists(st.text(st.characters(codec="utf-8"), max_size=300).map(str.encode), max_size=5)
cuts = st.lists(st.integers(min_value=0), max_size=8)

HOSTS = {"127.0.0.1:4711": True, "localhost": True, "[::1]:80": True, "evil.example": False, "": False}
ORIGINS = {None: True, "vscode-file://vscode-app": True, "http://localhost": False, "null": False}
TOKENS = {
    f"Authorization: Bearer {TOKEN}": True,
    f"authorization: bearer {TOKEN}": True,
    f"Sec-WebSocket-Protocol: raydap, raydap.token.{TOKEN}": True,
    f"Authorization: Basic {TOKEN}": False,
    f"Authorization: Bearer {TOKEN}x": False,
    f"Authorization: Bearer {TOKEN[:-1]}": False,
    "Authorization: Bearer": False,
    f"Sec-WebSocket-Protocol: raydap.token.{TOKEN}x": False,
    f"Cookie: token={TOKEN}": False,
}
PATHS = {"/dap": True, "/dap?x=1": True, f"/?token={TOKEN}": False, "/DAP": False, "/dap/": False}


def cut(data: bytes, places: list[int]) -> list[bytes]:
    ends = sorted(place % (len(data) + 1) for place in places)
    return [data[begin:end] for begin, end in zip([0, *ends], [*ends, len(data)], strict=True)]


def handshake(path: str, host: str, origin: str | None, token: str) -> bytes:
    lines = [f"GET {path} HTTP/1.1", f"Host: {host}", "Upgrade: websocket", "Connection: Upgrade", token]
    lines += [f"Sec-WebSocket-Key: {'A' * 22}==", "Sec-WebSocket-Version: 13"]
    lines += [] if origin is None else [f"Origin: {origin}"]
    return "\r\n".join([*lines, "", ""]).encode()


@given(
    st.sampled_from(sorted(PATHS)),
    st.sampled_from(sorted(HOSTS)),
    st.sampled_from(list(ORIGINS)),
    st.sampled_from(sorted(TOKENS)),
    cuts,
)
def test_a_handshake_is_accepted_only_if_all_of_it_is_right(
    path: str, host: str, origin: str | None, token: str, places: list[int]
) -> None:
    clients = visit([*cut(handshake(path, host, origin, token), places), frame(b"{}")])
    right = PATHS[path] and HOSTS[host] and ORIGINS[origin] and TOKENS[token]
    assert clients.messages == ([b"{}"] if right else [])
    assert clients.trusted is right


@given(texts, st.data(), cuts)
def test_text_arrives_unchanged_however_it_is_split(sent: list[bytes], data: st.DataObject, places: list[int]) -> None:
    """Split into fragments of a message with control frames between them, and into pieces of the stream."""
    stream = b""
    for text in sent:
        *parts, last = cut(text, data.draw(cuts))
        for number, part in enumerate(parts):
            stream += frame(part, 0x01 if number == 0 else 0x00) + frame(b"?", 0x89)
        stream += frame(last, 0x80 if parts else 0x81)
    opening = handshake("/dap", "localhost", None, f"Authorization: Bearer {TOKEN}")
    assert visit([opening, *cut(stream, places)]).messages == sent


@given(texts, st.booleans(), cuts)
def test_over_tcp_the_token_lets_in_and_is_taken_out(sent: list[bytes], right: bool, places: list[int]) -> None:
    token = TOKEN if right else TOKEN[::-1]
    attach = b'{"seq":2,"type":"request","command":"attach","arguments":{"job":"a","token":"%b"}}' % token.encode()
    clients = visit(cut(framed(attach, *sent), places))
    assert clients.trusted is right
    assert clients.messages == [b'{"seq":2,"type":"request","command":"attach","arguments":{"job":"a"}}', *sent]
