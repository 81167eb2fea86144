"""Bytes that are not a valid LSP message."""

GARBAGE = [
    b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
    b"Content-Length: x\r\n\r\n",
    b"Content-Length: 99999999999\r\n\r\n{}",
    b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
    b"\r\n\r\n",
    b"\0" * 5000,
    b"Content-Len",
    b"Content-Length:" + b" " * 3000,
]
