"""The rules for the variables of Ray's debugger in a launch.json, which is JSON with comments."""

import re
from bisect import bisect_right
from collections.abc import Iterator

from raydap.lsp.analysis.findings import RuleFinding, TextSpan
from raydap.lsp.rules import debug_variables
from raydap.lsp.rules.debug_variables import Variable

_TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?(?:\*/|\Z)     # a comment, which may lack its end
    |(?P<text>"(?:[^"\\\n]|\\.)*")    # a string
    |"(?:[^"\\\n]|\\.)*\\?            # one without its end; or each of its quotes would be tried
    |(?P<mark>[{}\[\]:,])
    |(?P<rest>[^\s"{}\[\]:,/]+)       # a number, true, false, null""",
    re.VERBOSE | re.DOTALL,
)


def check(text: str) -> Iterator[RuleFinding]:
    """Yield the findings about the variables in objects under the key "env"."""
    lines = _LineStarts(text)
    keys: list[str] = []
    tokens = [match for match in _TOKEN.finditer(text) if match.lastgroup is not None]
    for index, token in enumerate(tokens):
        if token["mark"] == "{":
            keys.append(_key_before(tokens, index))
        elif token["mark"] == "}" and keys:
            keys.pop()
        elif token["text"] is not None and keys and keys[-1] == "env":
            following = tokens[index + 1 : index + 3]
            if len(following) == 2 and following[0]["mark"] == ":" and following[1]["mark"] is None:
                value = following[1]
                is_text = value["text"] is not None
                plain = value.group()[1:-1] if is_text else value.group()
                yield from debug_variables.check(
                    Variable(token.group()[1:-1], lines.span(token), plain, lines.span(value), is_text)
                )


def _key_before(tokens: list[re.Match[str]], index: int) -> str:
    """Return the key whose value begins with the token at `index`; "" if there is none."""
    if index >= 2 and tokens[index - 1]["mark"] == ":" and tokens[index - 2]["text"] is not None:
        return tokens[index - 2].group()[1:-1]
    return ""


class _LineStarts:
    """The beginnings of a text's lines, which turn indices into spans."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = [0, *(match.end() for match in re.finditer(r"\r\n|\r|\n", text))]

    def span(self, match: re.Match[str]) -> TextSpan:
        line, column = self._place(match.start())
        end_line, end_column = self._place(match.end())
        return TextSpan(line, column, end_line, end_column)

    def _place(self, index: int) -> tuple[int, int]:
        line = bisect_right(self._starts, index)
        start = self._starts[line - 1]
        return line, len(self._text[start:index].encode("utf-8", "surrogatepass"))
