"""The findings of the language server in all Python files of a folder, such as a checkout of public training code.

Usage: PYTHONPATH=tests python -m support.findings_in FOLDER [--insert STATEMENT]
"""

import argparse
import sys
import warnings
from pathlib import Path

from raydap.lsp.examination import PythonExaminer
from support.inserted_calls import insert_in_functions


def findings_in(folder: Path, statement: str) -> tuple[list[str], int]:
    """Return a line for each finding, and the number of files; files that Python cannot parse are left out."""
    found: list[str] = []
    count = 0
    for path in sorted(folder.rglob("*.py")):
        try:
            text = path.read_text(encoding="utf-8")
            text = insert_in_functions(text, statement)[0] if statement else text
        except (SyntaxError, ValueError):
            continue
        count += 1
        name = path.relative_to(folder)
        found += [f"{name}:{one.span.line}: {one.code}: {one.message}" for one in PythonExaminer().examine(text) or []]
    return found, count


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--insert", default="", metavar="STATEMENT")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    found, count = findings_in(arguments.folder, arguments.insert)
    sys.stdout.write("".join(f"{line}\n" for line in found) + f"{len(found)} findings in {count} files\n")


if __name__ == "__main__":
    main()
