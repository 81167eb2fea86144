"""The permissions of the server."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class McpOptions:
    """The permissions of the server, as the user gives them on the command line."""

    show_secrets: bool = False
    """Whether answers contain passwords, tokens and keys."""
    allow_code: bool = False
    """Whether `values` and `look` execute statements, too."""
    read_only: bool = False
    """Whether only tools that neither stop nor change anything are offered."""
