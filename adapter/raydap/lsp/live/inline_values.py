"""The values of variables where workers are stopped, as LSP shows them: inline values, and hints."""

import asyncio
from typing import NamedTuple

from lsprotocol import types
from pygls.uris import to_fs_path

from raydap.lsp.analysis.findings import Span
from raydap.lsp.analysis.variables import Block
from raydap.lsp.document import Document
from raydap.lsp.live.sessions import Sessions
from raydap.lsp.live.value_texts import Values, value_text

PATIENCE_S = 1.0
"""How long an answer waits for workers. Then it says how many it speaks for; a refresh follows when others answer."""


async def inline_values(
    document: Document, params: types.InlineValueParams, sessions: Sessions
) -> list[types.InlineValue]:
    """Those in the function that the editor shows a stop in, of all workers that are stopped in it."""
    line = params.context.stopped_location.end.line + 1
    texts = await _texts(document, sessions, line)
    _, positions = document.now()
    return [types.InlineValueText(positions.range(one.span), one.text) for one in texts if _is_in(one, params.range)]


async def inlay_hints(document: Document, wanted: types.Range, sessions: Sessions) -> list[types.InlayHint]:
    """The same for editors without inline values: at the ends of the lines of all functions with stops."""
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
    """What stands at a place."""

    span: Span
    text: str


def _is_in(text: _Text, place: types.Range) -> bool:
    return place.start.line <= text.span.line - 1 <= place.end.line


async def _texts(document: Document, sessions: Sessions, line: int | None) -> list[_Text]:
    """With a `line`, which counts from 1, only those of the function around it, if a worker is stopped there."""
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
    """Returns the texts for the values that are known, and whether all values are. Asks the workers for the others."""
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
        # The editor has been told of the stop, and this server not yet. Or it is a stop of another debugger.
        return [], False
    texts = []
    for block, stopped in lines.items():
        last = max(stopped) if line is None else line
        texts += _of_block(block, last, values.get(block, []), len(stopped))
    return texts, complete


def _of_block(block: Block, last: int, known: list[Values], count: int) -> list[_Text]:
    """The texts up to the line of a stop, from `known` of `count` stops."""
    uses = [use for use in block.uses if use.span.line <= last]
    texts = []
    for use in uses:
        text = value_text(use.name, [values[use.name] for values in known if use.name in values])
        if text:
            texts.append(_Text(use.span, text))
    if known and len(known) < count:
        texts.append(_Text(Span(last, 0, last, 0), f"{len(known)} of {count} stops have answered"))
    return texts
