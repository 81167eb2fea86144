"""Hides passwords, tokens and keys in answers, which leave this machine with a model's context."""

import re

MASK = "***"

_SECRET_NAME = (
    r"(?:[\w.]*(?:password|passwd|passphrase|api_?key|access_?key|secret_?key|private_?key)"
    r"|(?:[\w.]*[_.])?(?:access|api|auth|bearer|client|refresh|session|)(?:secret|token|credentials?))"
)
"""Names that end in such a word. `tokens`, `token_ids` and `n_tokens` are data of language models."""

_MODEL_TOKENS = r"(?!(?:[\w.]*[_.])?(?:bos|cls|eos|mask|next|pad|sep|special|stop|unk)_token\b)"
"""Names of language models' tokens, which are no secrets."""

_ASSIGNED = re.compile(
    rf"(?i)(?<![\w.])(?P<name>['\"]?{_MODEL_TOKENS}{_SECRET_NAME}['\"]?)(?P<sign>\s*(?:=|:)\s*(?:b|r|f)?)"
    r"(?P<value>'(?:[^'\\]|\\.)*'?|\"(?:[^\"\\]|\\.)*\"?|[\w.]*[(\[{][^)\]}]*[)\]}]?|[^\s,;)}\]'\"]+)"
)
"""A secret's name with its value: `password = 'x'`, `"api_key": "x"`, `HF_TOKEN=x`."""

_CREDENTIAL = re.compile(
    r"\b(?:sk-[\w-]{16,}|gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|hf_[A-Za-z0-9]{20,}|xox[abpr]-[\w-]{10,}"
    r"|AKIA[0-9A-Z]{16}|AIza[\w-]{30,}|eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]*)"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*(?:-----END [A-Z ]*PRIVATE KEY-----)?"
    r"|(?<=://)[^\s/:@]+:[^\s/@]+(?=@)|(?i:(?<=bearer )[\w.~+/-]{8,}=*)"
)
"""Values with the form of a known credential: OpenAI, GitHub, GitLab, Hugging Face, Slack, AWS, Google, JWT, PEM,
`user:password` in a URL, and HTTP's bearer tokens."""

_NO_SECRET = re.compile(r"None|True|False|[-+]?[\d.]+(?:e[-+]?\d+)?|''|\"\"|<.*", re.IGNORECASE)


def masked(text: str) -> str:
    """Return the text with MASK in place of secrets. Numbers and empty values are no secrets."""
    return _CREDENTIAL.sub(MASK, _ASSIGNED.sub(_mask_value, text))


def is_secret(name: str) -> bool:
    """Return whether the value of a variable or expression with this name is a secret."""
    return re.fullmatch(rf"(?i)(?:.*\W)?{_MODEL_TOKENS}{_SECRET_NAME}\W*", name) is not None


def _mask_value(found: "re.Match[str]") -> str:
    if _NO_SECRET.fullmatch(found["value"]):
        return found[0]
    return f"{found['name']}{found['sign']}{MASK}"
