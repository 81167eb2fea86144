"""Secrets in values, variables and output."""

import pytest

from raydap.mcp_server.masking import is_secret, masked


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("password = 'x y'", "password = ***"),
        ('{"api_key": "abc", "n": 5}', '{"api_key": ***, "n": 5}'),
        ("{'clientSecret': 'a\\'b', 'x': 1}", "{'clientSecret': ***, 'x': 1}"),
        ("HF_TOKEN=abc", "HF_TOKEN=***"),
        ("password = SecretStr('hunter2')", "password = ***"),
        ("secret = ['a', 'b'], 5", "secret = ***, 5"),
        ("{'credentials': {'key': 'a'}, 'n': 1}", "{'credentials': ***, 'n': 1}"),
        ("self.accessToken = b'abc'", "self.accessToken = b***"),
        ("AWS_SECRET_ACCESS_KEY=wJalr/K7", "AWS_SECRET_ACCESS_KEY=***"),
        ("redis://user:pw@host:6379/0", "redis://***@host:6379/0"),
        ("Authorization: Bearer abc.def-123", "Authorization: Bearer ***"),
        ("key sk-proj-abcdefghijklmnop", "key ***"),
        ("ghp_abcdefghijklmnopqrst", "***"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0xyz.abc-_", "***"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----", "***"),
    ],
)
def test_a_secret_is_masked(text: str, expected: str) -> None:
    assert masked(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "max_tokens=512",
        "token_ids = [1, 2]",
        "tokenizer = <Tokenizer>",
        "eos_token = '</s>'",
        "next_token: 17",
        "token = 5",
        "password = None",
        "secret = ''",
        "loss = nan",
        "http://127.0.0.1:8265/api",
        "train.py:42 in step",
        "keyboard = 'x'",
    ],
)
def test_other_text_is_unchanged(text: str) -> None:
    assert masked(text) == text


def test_expressions_with_the_name_of_a_secret_are_secrets() -> None:
    secret = ("password", "self.cfg.api_key", "cfg['token']", "os.environ['HF_TOKEN']", "clientSecret")
    other = ("n_tokens", "loss", "tokenizer", "self.eos_token", "token_ids")
    assert [is_secret(each) for each in (*secret, *other)] == [True] * len(secret) + [False] * len(other)
