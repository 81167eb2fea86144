"""Shell completion of arguments and options: sets of workers, and files. It sends no request to a cluster."""

import glob
import os
import re

import click
from click.shell_completion import CompletionItem

_SPECIAL = ("not", "and", "or", "where")

_PLAIN = re.compile(r"[\w./~+-]+")
"""Names that need no quotes in any shell."""


def sets(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """Complete a set's last word: a qualifier, or a value if the qualifier has fixed values.

    A set of several words is one argument, so each completion repeats the earlier words.
    """
    from raydap.analysis.sets.set_syntax import FIXED_VALUES, QUALIFIERS

    before, word = _last_word(incomplete)
    qualifier, colon, values = word.partition(":")
    if colon:
        kept, comma, value = values.rpartition(",")
        taken = kept.split(",")
        return [
            CompletionItem(f"{before}{qualifier}:{kept}{comma}{each}")
            for each in FIXED_VALUES.get(qualifier, ())
            if each.startswith(value) and each not in taken
        ]
    found = [
        CompletionItem(f"{before}{name}:", help=text) for name, text in QUALIFIERS.items() if name.startswith(word)
    ]
    if before:
        found += [CompletionItem(f"{before}{name}") for name in _SPECIAL if name.startswith(word)]
    return found


def files(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """Let the shell complete names of files itself."""
    return [CompletionItem(incomplete, type="file")]


def set_or_program(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """Complete a set or a Python program, and files after that."""
    if context.params.get(str(parameter.name)):
        return files(context, parameter, incomplete)
    return [*sets(context, parameter, incomplete), *_programs(incomplete)]


def _last_word(text: str) -> tuple[str, str]:
    """Split a set before its last word, which may begin after a parenthesis."""
    begin = max(text.rfind(separator) for separator in " (") + 1
    return text[:begin], text[begin:]


def _programs(incomplete: str) -> list[CompletionItem[str]]:
    """Return the Python files and folders whose paths begin so, except for names that need quotes."""
    begin = os.path.expanduser(incomplete)
    found = []
    for path in sorted(glob.glob(f"{glob.escape(begin)}*")):
        name = incomplete + path[len(begin) :]
        if not _PLAIN.fullmatch(name):
            continue
        if os.path.isdir(path):
            found.append(CompletionItem(f"{name}/"))
        elif path.endswith(".py"):
            found.append(CompletionItem(name))
    return found
