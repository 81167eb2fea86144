"""What shells complete behind commands and options: sets of workers, and files. No cluster is asked for it."""

import glob
import os
import re

import click
from click.shell_completion import CompletionItem

_SPECIAL = ("not", "and", "or", "where")

_PLAIN = re.compile(r"[\w./~+-]+")
"""A name that no shell reads otherwise."""


def sets(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """The last word of a set: its qualifier, or the value of one that has fixed values. A set of several words is one
    argument, so the words before stay."""
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
    """The shell completes names of files itself."""
    return [CompletionItem(incomplete, type="file")]


def set_or_program(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """A set or a program of Python, and files behind a program."""
    if context.params.get(str(parameter.name)):
        return files(context, parameter, incomplete)
    return [*sets(context, parameter, incomplete), *_programs(incomplete)]


def _last_word(text: str) -> tuple[str, str]:
    """What is before the last word of a set, and that word. A word may begin behind a parenthesis."""
    begin = max(text.rfind(separator) for separator in " (") + 1
    return text[:begin], text[begin:]


def _programs(incomplete: str) -> list[CompletionItem[str]]:
    """Files of Python and folders that begin so. Names that a shell would read otherwise are left out."""
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
