"""The pages of the site that are generated from code: commands, VS Code's settings and commands, types of messages.

All texts are those that the code itself shows to users. The other pages of the reference are in docs/; tests compare
their tables with the code.
"""

import html
import inspect
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from raydap.cli.main import SECTIONS
from raydap.cli.main import main as raydap_command
from raydap.protocol import raydap_messages
from raydap.protocol.message_base import Message
from support import generate_typescript


def pages(root: Path) -> dict[str, str]:
    """Return the Markdown of each page, by its name on the site."""
    manifest = json.loads((root / "vscode-ext" / "package.json").read_text(encoding="utf-8"))
    return {
        "reference/commands.md": commands(),
        "reference/vscode.md": vscode(manifest["contributes"]),
        "reference/messages.md": messages(),
    }


def commands() -> str:
    """Return the page of all commands of `raydap`, with what `raydap COMMAND --help` prints."""
    context = click.Context(raydap_command, info_name="raydap")
    parts = [
        "# All commands\n",
        "These are the texts of `raydap COMMAND --help`. See also [the command line](../usage/command-line.md).\n",
    ]
    for section, names in SECTIONS.items():
        parts.append(f"## {section}\n")
        for name in names:
            command = raydap_command.get_command(context, name)
            assert command is not None
            parts += _command(command, name, context)
    return "\n".join(parts)


def _command(command: click.Command, name: str, parent: click.Context) -> Iterator[str]:
    """Yield the parts of a command's section, and those of its own commands."""
    context = click.Context(command, info_name=name, parent=parent)
    yield f"### {context.command_path}\n"
    yield f"```sh\n{context.command_path} {' '.join(command.collect_usage_pieces(context))}\n```\n"
    yield _help(command.help or "")
    records = [found for each in command.get_params(context) if (found := each.get_help_record(context))]
    # An argument has no text, and `--help` is the same everywhere.
    rows = [(_code(names), cell(text)) for names, text in records if text and "--help" not in names]
    yield _table(("option", "meaning"), rows)
    if isinstance(command, click.Group):
        for child in command.list_commands(context):
            subcommand = command.get_command(context, child)
            assert subcommand is not None
            if not subcommand.hidden:
                yield from _command(subcommand, child, context)


def _help(text: str) -> str:
    """Return a help text of click as Markdown. `\\b` begins a paragraph whose lines are kept."""
    made = []
    for paragraph in inspect.cleandoc(text).split("\n\n"):
        kept = paragraph.removeprefix("\b\n")
        first, _, rest = kept.partition("\n")
        if kept == paragraph:
            made.append(cell(paragraph))
        elif first.endswith(":"):
            made.append(f"{cell(first)}\n\n```sh\n{inspect.cleandoc(rest)}\n```")
        else:
            made.append(f"```text\n{kept}\n```")
    return "\n\n".join(made) + "\n"


def vscode(contributes: Mapping[str, Any]) -> str:
    """Return the page of the extension's settings and commands, from its `contributes`."""
    settings = [
        (_code(name), _code(json.dumps(each["default"])), each.get("markdownDescription") or each["description"])
        for name, each in contributes["configuration"]["properties"].items()
    ]
    keys = {each["command"]: each["key"] for each in contributes["keybindings"]}
    hidden = {each["command"] for each in contributes["menus"]["commandPalette"] if each["when"] == "false"}
    rows = [
        (
            f"{each['category']}: {each['title']}" if each["command"] not in hidden else each["title"],
            "no" if each["command"] in hidden else "yes",
            _code(keys[each["command"]]) if each["command"] in keys else "",
            _code(each["command"]),
        )
        for each in contributes["commands"]
    ]
    return "\n".join(
        [
            "# VS Code: settings and commands\n",
            "[In VS Code](../usage/vscode.md) shows how to use them.\n",
            "## Settings\n",
            _table(("setting", "default", "meaning"), settings),
            "## Commands\n",
            "A command that is not in the palette is a button or a menu entry of a row.\n",
            _table(("command", "in the palette", "key", "id"), rows),
        ]
    )


def messages() -> str:
    """Return the page of the types of raydap's own messages."""
    requests = [
        (f"`{name}`", _link(arguments.__name__), _link(answer.__name__) if answer is not None else "")
        for name, (arguments, answer) in raydap_messages.REQUESTS.items()
    ]
    structs = list(generate_typescript.structs(raydap_messages))
    aliases = generate_typescript.aliases(raydap_messages)
    events = [(f"`{name}`", _link(body.__name__)) for name, body in raydap_messages.EVENTS.items()]
    return "\n".join(
        [
            "# Types of messages\n",
            "[raydap's own requests](../requests.md) explains what they do. A name that ends with `?` may be absent.\n",
            "## Requests\n",
            _table(("request", "arguments", "answer"), requests),
            "## Events\n",
            _table(("event", "body"), events),
            "## Types\n",
            *(f"### {name}\n\n{', '.join(map(_code, values))}\n" for values, name in aliases.items()),
            *(_struct(each) for each in structs),
        ]
    )


def _struct(struct: type[Message]) -> str:
    texts = generate_typescript.field_docstrings(struct)
    fields = generate_typescript.fields(struct).items()
    rows = [
        (f"`{name}`", _type(kind), cell(texts.get(field, "")))
        for field, (name, kind) in zip(struct.__struct_fields__, fields, strict=True)
    ]
    return f"### {struct.__name__}\n\n{cell(inspect.cleandoc(struct.__doc__ or ''))}\n\n" + _table(
        ("field", "type", "meaning"), rows
    )


def _type(kind: str) -> str:
    """Return a TypeScript type, as a link if it is about a type of this page, whose name begins with a capital."""
    text = kind.replace("readonly ", "")
    named = re.search(r"\b[A-Z]\w+", text)
    return f"[`{text}`](#{named[0].lower()})" if named else _code(text)


def _link(name: str) -> str:
    return f"[`{name}`](#{name.lower()})"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([f"| {' | '.join(head)} |", "|---" * len(head) + "|", *lines, ""]) if lines else ""


def _code(text: str) -> str:
    return f"<code>{html.escape(text).replace('|', '&#124;')}</code>" if text else ""


def cell(text: str) -> str:
    """Return a text of code as Markdown in one line. Names of pages become links, which lead out of reference/."""
    line = " ".join(text.split())
    parts = re.split(r"(`[^`]*`)", line)
    parts[::2] = [html.escape(part, quote=False).replace("|", "&#124;").replace("*", "\\*") for part in parts[::2]]
    parts[::2] = [re.sub(r"\bdocs/([\w/-]+)\.md\b", r"[\1](../\1.md)", part) for part in parts[::2]]
    return "".join(parts)
