"""The features of the language server, registered with pygls."""

import asyncio
import logging
from collections.abc import Callable, Collection, Generator
from functools import partial
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, default_converter, lsp_method
from pygls.workspace import TextDocument

import raydap
from raydap.lsp.document import Document
from raydap.lsp.live.annotations import COMMANDS, hover, lenses
from raydap.lsp.live.inline_values import inlay_hints, inline_values
from raydap.lsp.live.sessions import Sessions
from raydap.lsp.rules.rule_table import BY_CODE

logger = logging.getLogger(__name__)

REFRESH_INTERVAL_S = 0.2
"""Seconds from the first change of a worker until the client is requested to refresh lenses and values."""

SETTINGS = {
    "ignore": "the codes of disabled rules",
    "commands": "the lens commands that the client implements, such as raydap.continueStopped; default: none",
    "live": "whether to show live workers; default: `true`",
    "workers": "the keys of the workers that lenses and hovers count; default: all",
}
"""The settings in `initializationOptions`, and under `raydap.languageServer` in `didChangeConfiguration`."""


class ClosingProtocol(LanguageServerProtocol):
    """pygls' protocol, in which `exit` closes the connection of its client.

    pygls would end the process, but a server on TCP may have other clients.
    """

    exited: int | None = None
    """The exit code, once the client has sent `exit`."""

    @lsp_method(types.EXIT)
    def lsp_exit(self, *_: Any) -> Generator[Any, Any, None]:
        """Close the connection. The exit code is 0 after `shutdown` and 1 without it, as LSP requires."""
        self.exited = 0 if self._shutdown else 1
        assert self.writer is not None
        self.writer.close()
        yield from ()


class RaydapLanguageServer(LanguageServer):
    """The server for one client, with the client's open documents."""

    def __init__(self) -> None:
        # Let the client send the whole text with each change, which costs it less time than raydap's examination. With
        # incremental changes, a single wrong position would spoil the text from then on.
        super().__init__(
            "raydap",
            raydap.__version__,
            text_document_sync_kind=types.TextDocumentSyncKind.Full,
            protocol_cls=ClosingProtocol,
            converter_factory=default_converter,
        )
        self._open: dict[str, Document] = {}
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._ignored: frozenset[str] = frozenset()
        self._commands: list[str] = []
        self._live = True
        self._counted: frozenset[str] | None = None
        self._sessions = Sessions(self._workers_changed)
        self._refresh: asyncio.TimerHandle | None = None
        self._add_features()

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Log an error. pygls would show each one to the user, who can do nothing about it."""
        logger.warning("language server: %s", error)

    def close(self) -> None:
        """Cancel all timers, close all documents, and leave the debug sessions."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        self._open.clear()
        self._sessions.close()
        if self._refresh is not None:
            self._refresh.cancel()

    def _add_features(self) -> None:
        features: dict[str, Callable[[Any], object]] = {
            types.INITIALIZE: self._initialize,
            types.TEXT_DOCUMENT_DID_OPEN: self._did_open,
            types.TEXT_DOCUMENT_DID_CHANGE: self._did_change,
            types.TEXT_DOCUMENT_DID_CLOSE: self._did_close,
            types.TEXT_DOCUMENT_CODE_ACTION: self._code_actions,
            types.TEXT_DOCUMENT_CODE_LENS: self._code_lenses,
            types.TEXT_DOCUMENT_HOVER: self._hover,
            types.TEXT_DOCUMENT_INLINE_VALUE: self._inline_values,
            types.TEXT_DOCUMENT_INLAY_HINT: self._inlay_hints,
            types.WORKSPACE_DID_CHANGE_CONFIGURATION: self._did_change_configuration,
        }
        actions = types.CodeActionOptions([types.CodeActionKind.QuickFix])
        options = {types.TEXT_DOCUMENT_CODE_ACTION: actions}
        for name, handler in features.items():
            # pygls sets attributes of the functions that it registers. A bound method accepts none, a partial does.
            self.feature(name, options.get(name))(partial(handler))

    def _initialize(self, params: types.InitializeParams) -> None:
        self._use_settings(params.initialization_options)

    def _did_change_configuration(self, params: types.DidChangeConfigurationParams) -> None:
        settings = params.settings
        for name in ("raydap", "languageServer"):
            settings = _field(settings, name)
        if settings is not None:
            self._use_settings(settings)
            for document in self._open.values():
                self._examine(document)

    def _did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        text = self.workspace.get_text_document(params.text_document.uri)
        if _is_examined(text):
            encoding = str(getattr(self.workspace.position_encoding, "value", self.workspace.position_encoding))
            document = Document(text.uri, text.source, text.version, encoding)
            self._open[text.uri] = document
            self._examine(document)

    def _did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        document = self._open.get(params.text_document.uri)
        if document is None:
            return
        text = self.workspace.get_text_document(document.uri)
        document.text, document.version = text.source, text.version
        if document.uri in self._timers:
            self._timers[document.uri].cancel()
        # Even without a delay, changes that have already arrived cause only one examination.
        self._timers[document.uri] = asyncio.get_running_loop().call_later(document.delay_s, self._examine, document)

    def _did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        document = self._open.pop(params.text_document.uri, None)
        timer = self._timers.pop(params.text_document.uri, None)
        if timer is not None:
            timer.cancel()
        if document is not None:
            self._publish(document, [])

    def _code_actions(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        document = self._open.get(params.text_document.uri)
        if document is None:
            return []
        if document.uri in self._timers:
            self._examine(document)
        return document.actions(params.range)

    def _code_lenses(self, params: types.CodeLensParams) -> list[types.CodeLens]:
        document = self._open.get(params.text_document.uri)
        return [] if document is None else lenses(document, self._sessions.states, self._commands, self._counted)

    def _hover(self, params: types.HoverParams) -> types.Hover | None:
        document = self._open.get(params.text_document.uri)
        return None if document is None else hover(document, params.position, self._sessions.states, self._counted)

    async def _inline_values(self, params: types.InlineValueParams) -> list[types.InlineValue]:
        document = self._open.get(params.text_document.uri)
        return [] if document is None else await inline_values(document, params, self._sessions)

    async def _inlay_hints(self, params: types.InlayHintParams) -> list[types.InlayHint]:
        # A client that shows inline values, too, would show each value twice.
        document = self._open.get(params.text_document.uri)
        client = self.client_capabilities.text_document
        if document is None or (client is not None and client.inline_value is not None):
            return []
        return await inlay_hints(document, params.range, self._sessions)

    def _workers_changed(self) -> None:
        """Start the timer after which the client refreshes. One refresh serves many workers that stop together."""
        if self._open and self._refresh is None:
            self._refresh = asyncio.get_running_loop().call_later(REFRESH_INTERVAL_S, self._refresh_client)

    def _refresh_client(self) -> None:
        self._refresh = None
        workspace = self.client_capabilities.workspace or types.WorkspaceClientCapabilities()
        shown = {
            types.WORKSPACE_CODE_LENS_REFRESH: workspace.code_lens,
            types.WORKSPACE_INLINE_VALUE_REFRESH: workspace.inline_value,
            types.WORKSPACE_INLAY_HINT_REFRESH: workspace.inlay_hint,
        }
        for request, capability in shown.items():
            if capability is not None and capability.refresh_support:
                self.protocol.send_request(request)

    def _examine(self, document: Document) -> None:
        timer = self._timers.pop(document.uri, None)
        if timer is not None:
            timer.cancel()
        diagnostics = document.examine(self._ignored)
        if self._live:
            self._sessions.start()
        if diagnostics is not None:
            self._publish(document, diagnostics)

    def _publish(self, document: Document, diagnostics: list[types.Diagnostic]) -> None:
        self.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(document.uri, diagnostics, document.version)
        )

    def _use_settings(self, settings: object) -> None:
        live = _field(settings, "live")
        if isinstance(live, bool):
            self._live = live
            if not live:
                self._sessions.close()
                self._sessions = Sessions(self._workers_changed)
        elif live is not None:
            self._complain("The setting `live` of raydap's language server must be true or false.")
        workers = _field(settings, "workers")
        counted = frozenset(map(str, workers)) if isinstance(workers, (list, tuple)) else None
        if counted != self._counted:
            self._counted = counted
            self._workers_changed()
        self._commands = self._names(settings, "commands", list(COMMANDS), self._commands)
        self._ignored = frozenset(self._names(settings, "ignore", list(BY_CODE), self._ignored))

    def _names(self, settings: object, setting: str, known: list[str], before: Collection[str]) -> list[str]:
        """Return the names in a setting that is a list of known names; `before` if it is left out or is not a list.

        Warn the user of a value that is not a list, and of the first unknown name.
        """
        names = _field(settings, setting)
        if names is None:
            return list(before)
        if not isinstance(names, (list, tuple)):
            self._complain(
                f"The setting `{setting}` of raydap's language server must be a list, such as [{known[0]!r}]."
            )
            return list(before)
        unknown = [name for name in names if name not in known]
        if unknown:
            where = f"the setting `{setting}` of raydap's language server"
            self._complain(f"Unknown value {unknown[0]!r} in {where}. Known values: {', '.join(known)}.")
        return [name for name in names if name in known]

    def _complain(self, text: str) -> None:
        self.window_show_message(types.ShowMessageParams(types.MessageType.Warning, text))


def _is_examined(text: TextDocument) -> bool:
    """Return whether a document is Python, which may be an unsaved buffer, or VS Code's launch.json."""
    if text.language_id == "python" or text.uri.endswith((".py", ".pyi")):
        return True
    return text.uri.endswith("/.vscode/launch.json")


def _field(settings: object, name: str) -> Any:
    """Return a field of a client's settings, which are a dictionary, or an object that pygls has made of one."""
    return settings.get(name) if isinstance(settings, dict) else getattr(settings, name, None)
