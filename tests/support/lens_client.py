"""An LSP client that shows live workers in one file, and refreshes when the server requests it."""

import asyncio
import sys
from pathlib import Path

from lsprotocol import types
from pygls.lsp.client import LanguageClient


class LensClient(LanguageClient):
    """A client of `raydap lsp` that opens `path`. The caller calls `hang_up`.

    With `inline` it supports inline values, like VS Code; without, inlay hints at the ends of lines, like other
    editors.
    """

    def __init__(self, path: Path, inline: bool = True) -> None:
        super().__init__("test", "1")
        self._inline = inline
        self._text = path.read_text()
        self._document = types.TextDocumentIdentifier(path.as_uri())
        self._asked = asyncio.Event()
        self._asked_values = asyncio.Event()
        self.feature(types.WORKSPACE_CODE_LENS_REFRESH)(lambda _: self._asked.set())
        self.feature(types.WORKSPACE_INLINE_VALUE_REFRESH)(lambda _: self._asked_values.set())
        self.feature(types.WORKSPACE_INLAY_HINT_REFRESH)(lambda _: self._asked_values.set())

    async def start(self) -> None:
        await self.start_io(sys.executable, "-m", "raydap", "lsp")

    async def open(self) -> None:
        workspace = types.WorkspaceClientCapabilities(
            code_lens=types.CodeLensWorkspaceClientCapabilities(True),
            inline_value=types.InlineValueWorkspaceClientCapabilities(self._inline),
            inlay_hint=types.InlayHintWorkspaceClientCapabilities(not self._inline),
        )
        document = types.TextDocumentClientCapabilities(
            inline_value=types.InlineValueClientCapabilities() if self._inline else None
        )
        capabilities = types.ClientCapabilities(workspace, document)
        await self.initialize_async(types.InitializeParams(capabilities))
        self.initialized(types.InitializedParams())
        item = types.TextDocumentItem(self._document.uri, "python", 1, self._text)
        self.text_document_did_open(types.DidOpenTextDocumentParams(item))

    async def wait_lenses(self, expected: dict[int, str]) -> None:
        """Wait until the code lenses are these. The keys are line numbers from 1."""
        found: dict[int, str] = {}
        while found != expected:
            await self._asked.wait()
            self._asked.clear()
            lenses = await self.text_document_code_lens_async(types.CodeLensParams(self._document)) or ()
            found = {lens.range.start.line + 1: lens.command.title for lens in lenses if lens.command is not None}

    async def wait_values(self, stopped: int, expected: dict[int, list[str]]) -> None:
        """Wait until the values are these. All line numbers count from 1, `stopped` too."""
        found: dict[int, list[str]] = {}
        while found != expected:
            await self._asked_values.wait()
            self._asked_values.clear()
            found = await self._values(stopped)

    async def _values(self, stopped: int) -> dict[int, list[str]]:
        whole = types.Range(types.Position(0, 0), types.Position(self._text.count("\n"), 0))
        found: dict[int, list[str]] = {}
        if self._inline:
            line = types.Range(types.Position(stopped - 1, 0), types.Position(stopped - 1, 0))
            context = types.InlineValueContext(0, line)
            inline = types.InlineValueParams(self._document, whole, context)
            for value in await self.text_document_inline_value_async(inline) or ():
                assert isinstance(value, types.InlineValueText)
                found.setdefault(value.range.start.line + 1, []).append(value.text)
            return found
        for hint in await self.text_document_inlay_hint_async(types.InlayHintParams(self._document, whole)) or ():
            assert isinstance(hint.label, str)
            assert hint.position.character == len(self._text.splitlines()[hint.position.line])
            found[hint.position.line + 1] = [hint.label]
        return found

    async def hover(self, line: int, character: int) -> str:
        """Return the hover text at a place. `line` counts from 1, `character` from 0."""
        place = types.Position(line - 1, character)
        found = await self.text_document_hover_async(types.HoverParams(self._document, place))
        assert found is not None
        assert isinstance(found.contents, types.MarkupContent)
        return found.contents.value

    async def hang_up(self) -> None:
        self.exit(None)
        await self.stop()  # type: ignore[no-untyped-call]
