"""The texts that raydap shows at run time, by file: messages, help, log lines, and the extension's manifest.

`make strings` prints them, to be read from top to bottom as a user would.
"""

import ast
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]


def is_text(text: str) -> bool:
    """Return whether a string is written for people: it has two words, and is no code."""
    is_code = re.match(r"(import |from \w+ import|def |class |@|\(lambda|#!|<\w)", text)
    words = re.search(r"[A-Za-z]{2,}[,.;:)]? \(?[a-z]{2,}", text.replace("{}", "it"))
    return is_code is None and words is not None and re.search("[A-Za-z]{3}", text) is not None


def python_texts(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of each string; `{}` stands for a value."""
    tree = ast.parse(source)
    left_out: set[int] = set()
    for node in ast.walk(tree):
        for statement in getattr(node, "body", []) if isinstance(getattr(node, "body", None), list) else []:
            if isinstance(statement, ast.Expr):
                left_out.add(id(statement.value))  # A docstring.
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts = [part.value if isinstance(part, ast.Constant) else "{}" for part in node.values]
            left_out.update(id(part) for part in node.values)
            yield node.lineno, "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in left_out:
            yield node.lineno, node.value


def typescript_texts(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of each string outside of comments."""
    bare = re.sub(r"/\*.*?\*/", lambda comment: "\n" * comment[0].count("\n"), source, flags=re.DOTALL)
    for found in re.finditer(r"(?<!:)//[^\n]*|'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`", bare):
        text = found[1] or found[2] or ""
        yield bare.count("\n", 0, found.start()) + 1, re.sub(r"\$\{[^}]*\}", "{}", text)


def manifest_texts(value: object) -> Iterator[str]:
    """Yield the titles and descriptions in package.json."""
    if isinstance(value, dict):
        for key, part in value.items():
            if key in {"title", "description", "markdownDescription", "contents", "label", "shortTitle"} and isinstance(
                part, str
            ):
                yield part
            else:
                yield from manifest_texts(part)
    elif isinstance(value, list):
        for part in value:
            if isinstance(part, str) and is_text(part):
                yield part  # The description of a choice.
            else:
                yield from manifest_texts(part)


def texts() -> Iterator[str]:
    """Yield `file:line: text` of the package and of the extension."""
    for path in sorted((ROOT / "adapter" / "raydap").rglob("*.py")):
        for line, text in sorted(set(python_texts(path.read_text(encoding="utf-8")))):
            if is_text(text):
                yield f"{path.relative_to(ROOT)}:{line}: {' '.join(text.split())}"
    manifest = ROOT / "vscode-ext" / "package.json"
    for text in manifest_texts(json.loads(manifest.read_text(encoding="utf-8"))):
        yield f"{manifest.relative_to(ROOT)}: {text}"
    for path in sorted((ROOT / "vscode-ext" / "src").rglob("*.ts")):
        for line, text in typescript_texts(path.read_text(encoding="utf-8")):
            if is_text(text):
                yield f"{path.relative_to(ROOT)}:{line}: {' '.join(text.split())}"


if __name__ == "__main__":
    sys.stdout.writelines(f"{text}\n" for text in texts())
