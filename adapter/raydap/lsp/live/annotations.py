"""The code lenses and hovers for live workers."""

import re
from collections.abc import Collection, Sequence

from lsprotocol import types
from pygls.uris import to_fs_path

from raydap.lsp.document import Document
from raydap.lsp.live.session_state import SessionState
from raydap.lsp.live.worker_texts import hover_text, lens, mark_of

_WORD = re.compile(r"\w+")


COMMANDS = {
    "raydap.continueStopped": "continue",
    "raydap.stepStopped": "step all",
    "raydap.compareStopped": "compare",
}
"""The titles of the commands that lenses offer for stopped workers.

The client executes the commands, because the server is only an observer of the session. A command's argument contains
the ids of the stopped threads, by the keys of their workers (docs/requests.md).
"""


def lenses(
    document: Document,
    sessions: Sequence[SessionState],
    commands: Collection[str] = (),
    counted: Collection[str] | None = None,
) -> list[types.CodeLens]:
    """Return a lens with a text for each place that workers are at, and lenses for the client's `commands`.

    Only the workers with the keys `counted` count; None for all.
    """
    path = to_fs_path(document.uri)
    if not path or not sessions:
        return []
    found = []
    for mark in document.marks:
        shown = lens(mark, path, sessions, counted)
        if shown is not None:
            start = types.Position(mark.line - 1, 0)
            # Editors show a command without a name as plain text.
            titles = [types.Command(shown.text, "")]
            if shown.stopped:
                titles += [types.Command(COMMANDS[name], name, arguments=[shown.stopped]) for name in commands]
            found += [types.CodeLens(types.Range(start, start), title) for title in titles]
    return found


def hover(
    document: Document,
    position: types.Position,
    sessions: Sequence[SessionState],
    counted: Collection[str] | None = None,
) -> types.Hover | None:
    """Return a hover that lists the workers of the function or class whose name is at a position.

    `counted` is that of `lenses`.
    """
    path = to_fs_path(document.uri)
    if not path or not sessions:
        return None
    lines = document.text.split("\n")
    line = lines[position.line] if position.line < len(lines) else ""
    for word in _WORD.finditer(line):
        begin, end = document.columns(line, word.start()), document.columns(line, word.end())
        if begin <= position.character <= end:
            mark = mark_of(word.group(), document.marks)
            text = "" if mark is None else hover_text(mark, path, sessions, counted)
            if text:
                place = types.Range(types.Position(position.line, begin), types.Position(position.line, end))
                return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text), place)
    return None
