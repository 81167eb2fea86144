"""The prompt of the debugger, with history, completion, colours, and several lines for Python blocks."""

import codeop
import os
import warnings
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.lexers import PygmentsLexer
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.patch_stdout import patch_stdout
from pygments.lexers.python import PythonLexer

from raydap import safe_files
from raydap.analysis.sets.set_syntax import QUALIFIERS
from raydap.client.dap_connection import SessionError
from raydap.presentation.safe_text import one_line
from raydap.terminal.debugger.command_line import parse
from raydap.terminal.debugger.command_table import BY_NAME
from raydap.terminal.debugger.debugger import CommandError, Debugger


class Interrupted(Exception):
    """The user has pressed Ctrl-C. `text` is the line that was typed until then."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


class Prompt:
    """Reads lines from a terminal."""

    def __init__(self, debugger: Debugger, environ: Mapping[str, str] = os.environ) -> None:
        self._debugger = debugger
        keys = KeyBindings()
        keys.add("enter", filter=Condition(self._is_unfinished))(_new_line)
        # rich has already checked NO_COLOR and the terminal.
        is_plain = debugger.console.color_system is None or debugger.console.no_color
        self._session: PromptSession[str] = PromptSession(
            history=_history(environ),
            completer=ExpressionCompleter(debugger),
            complete_while_typing=False,
            lexer=None if is_plain else PygmentsLexer(PythonLexer),
            key_bindings=keys,
            multiline=False,
            prompt_continuation="... ",
            color_depth=ColorDepth.DEPTH_1_BIT if is_plain else None,
            enable_open_in_editor=True,
        )

    async def read(self) -> str:
        """Return the next line. Raises EOFError at Ctrl-D, and Interrupted at Ctrl-C."""
        try:
            # Only while the prompt is shown: patch_stdout writes with a delay, from another thread. The end of a
            # command's output would come after the next prompt has been drawn.
            with patch_stdout(raw=True):
                return await self._session.prompt_async(self._message, handle_sigint=False)
        except KeyboardInterrupt:
            # asyncio ends its event loop when a task raises KeyboardInterrupt.
            raise Interrupted(self._session.default_buffer.text) from None

    def redraw(self) -> None:
        """Draw the prompt again, if it is shown, because its name may have changed."""
        if self._session.app.is_running:
            self._session.app.invalidate()

    def _message(self) -> FormattedText:
        return FormattedText([("bold", f"({one_line(self._debugger.prompt_name)})"), ("", " ")])

    def _is_unfinished(self) -> bool:
        """Return whether Enter begins another line of a Python block. Ray's pdb accepts only single lines."""
        if self._debugger.old.joined is not None:
            return False
        return needs_more_lines(self._session.default_buffer.document)


def needs_more_lines(document: Document) -> bool:
    """Return whether the text is an incomplete Python block. An empty line ends a block."""
    line = parse(document.text, BY_NAME)
    if line.name or not document.is_cursor_at_the_end or not line.rest:
        return False
    if "\n" in document.text and not document.current_line.strip():
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return codeop.compile_command(line.rest) is None
    except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError):
        return False


def _new_line(event: KeyPressEvent) -> None:
    """Insert a line break and the indentation of the line before, with one more level after a colon."""
    buffer = event.current_buffer
    line = buffer.document.current_line
    indent = line[: len(line) - len(line.lstrip())] + "    " * line.rstrip().endswith(":")
    buffer.insert_text(f"\n{indent}")


def _history(environ: Mapping[str, str]) -> History:
    """Return the history, in a file that only the user can read because lines may contain secrets of the program."""
    state = environ.get("XDG_STATE_HOME") or os.path.join(environ.get("HOME", ""), ".local", "state")
    path = Path(state) / "raydap" / "debug-history"
    if not path.is_absolute():  # Without HOME the file would be in the current folder.
        return InMemoryHistory()
    try:
        safe_files.make_private(path.parent)
        path.touch(mode=0o600)
    except OSError:
        return InMemoryHistory()
    return FileHistory(str(path))


class ExpressionCompleter(Completer):
    """Completes commands, sets in brackets, and expressions of the frame that the user looks at."""

    def __init__(self, debugger: Debugger) -> None:
        self._debugger = debugger

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> list[Completion]:
        """Return nothing: all completions come from `get_completions_async`."""
        return []

    async def get_completions_async(
        self, document: Document, complete_event: CompleteEvent
    ) -> AsyncGenerator[Completion, None]:
        """Yield the completions for the text before the cursor."""
        if self._debugger.old.joined is not None:
            return
        text = document.text_before_cursor
        opened = text.rfind("[")
        if text.lstrip().startswith("[") and "]" not in text:
            for each in self._set_words(text[opened + 1 :].replace("(", " ").rpartition(" ")[2]):
                yield each
            return
        line = parse(text, BY_NAME)
        words = text.rpartition("]")[2].split() if text.lstrip().startswith("[") else text.split()
        if len(words) <= 1 and not text.endswith(" ") and not line.rest.startswith("!"):
            typed = words[0] if words else ""
            for name in sorted(BY_NAME):
                if name.startswith(typed) and len(name) > 2:
                    yield Completion(name, -len(typed), display_meta=BY_NAME[name].text[:60])
        if not line.name or line.rest:
            async for each in self._expressions(line.rest):
                yield each

    def _set_words(self, typed: str) -> list[Completion]:
        classes = sorted({entry.actor for entry in self._debugger.live.workers.values() if entry.actor})
        words = [*(f"{name}:" for name in QUALIFIERS), *(f"actor:{name}" for name in classes), "all", "not ", "or "]
        return [Completion(word, -len(typed)) for word in words if word.startswith(typed)]

    async def _expressions(self, expression: str) -> AsyncIterator[Completion]:
        """Yield debugpy's completions in the frame that the user looks at."""
        try:
            frame = await self._debugger.frame()
            body = await self._debugger.request(
                "completions", frameId=frame.id, text=expression, column=len(expression) + 1
            )
            targets = [str(target.get("text") or target["label"]) for target in body["targets"]]
        except (CommandError, SessionError, LookupError, TypeError, AttributeError):
            return
        word = len(expression) - len(
            expression.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
        )
        for target in targets:
            yield Completion(target, -word)
