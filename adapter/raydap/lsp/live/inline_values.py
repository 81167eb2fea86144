"""The inline values and inlay hints that show the variables of stopped workers."""

import asyncio
from typing import NamedTuple

from lsprotocol import types
from pygls.uris import to_fs_path

from raydap.lsp.analysis.findings import TextSpan
from raydap.lsp.analysis.variables import Block
from raydap.lsp.document import Document
from raydap.lsp.live.sessions import Sessions
from raydap.lsp.live.value_texts import Values, value_text

PATIENCE_S = 1.0
"""Seconds that an answer waits for the values of all stops.

After that the answer contains the values that have arrived, and a text with the number of their stops. When further
values arrive, the client is refreshed.
"""


async def inline_values(
    document: Document, params: types.InlineValueParams, sessions: Sessions
) -> list[types.InlineValue]:
    """Return the values in the function where the editor shows a stop, from all workers that are stopped in it."""
    line = params.context.stopped_location.end.line + 1
    texts = await _texts(document, sessions, line)
    _, positions = document.now()
    return [types.InlineValueText(positions.range(one.span), one.text) for one in texts if _is_in(one, params.range)]


async def inlay_hints(document: Document, wanted: types.Range, sessions: Sessions) -> list[types.InlayHint]:
    """Return the values in all functions with stops, at the ends of lines, for editors without inline values."""
    lines: dict[int, list[str]] = {}
    for one in await _texts(document, sessions, None):
        if _is_in(one, wanted):
            lines.setdefault(one.span.line, []).append(one.text)
    _, positions = document.now()
    return [
        types.InlayHint(positions.end_of_line(line).end, ", ".join(texts), padding_left=True)
        for line, texts in lines.items()
    ]


class _Text(NamedTuple):
    """A text beside a variable or at the line of a stop."""

    span: TextSpan
    """The place of the variable or of the stop."""
    text: str
    """The text that the editor shows there."""


def _is_in(text: _Text, place: types.Range) -> bool:
    return place.start.line <= text.span.line - 1 <= place.end.line


async def _texts(document: Document, sessions: Sessions, line: int | None) -> list[_Text]:
    """Return the texts of all functions with stops, after waiting at most PATIENCE_S for values.

    With a `line`, which counts from 1, return only the texts of the function around it, if a worker is stopped there.
    """
    path = to_fs_path(document.uri)
    deadline = asyncio.get_running_loop().time() + PATIENCE_S
    while path and sessions.clients:
        texts, complete = _known(document, path, sessions, line)
        left = deadline - asyncio.get_running_loop().time()
        if complete or left <= 0:
            return texts
        await sessions.wait_change(left)
    return []


def _known(document: Document, path: str, sessions: Sessions, line: int | None) -> tuple[list[_Text], bool]:
    """Return the texts for the values that have been read, and whether all have been; request the others."""
    blocks, _ = document.now()
    complete = not any(client.state.is_looking for client in sessions.clients)
    lines: dict[Block, list[int]] = {}
    values: dict[Block, list[Values]] = {}
    for client in sessions.clients:
        for thread, stop in client.state.stops(path).items():
            block = blocks.around(stop.line)
            if line is None or block is blocks.around(line):
                lines.setdefault(block, []).append(stop.line)
                found = client.state.values(thread)
                if found is None:
                    client.read_values(thread, stop)
                    complete = False
                else:
                    values.setdefault(block, []).append(found)
    if line is not None and not any(line in stopped for stopped in lines.values()):
        # The editor has received the stop before this server, or it is a stop of another debugger.
        return [], False
    texts = []
    for block, stopped in lines.items():
        last = max(stopped) if line is None else line
        texts += _of_block(block, last, values.get(block, []), len(stopped))
    return texts, complete


def _of_block(block: Block, last: int, known: list[Values], count: int) -> list[_Text]:
    """Return the texts of a function up to the line `last`, from the `known` values of `count` stops."""
    uses = [use for use in block.uses if use.span.line <= last]
    texts = []
    for use in uses:
        text = value_text(use.name, [values[use.name] for values in known if use.name in values])
        if text:
            texts.append(_Text(use.span, text))
    if known and len(known) < count:
        texts.append(_Text(TextSpan(last, 0, last, 0), f"values of {len(known)} of {count} stops"))
    return texts
