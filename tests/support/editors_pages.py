"""The debug configurations in the documentation, as the editors read them."""

import json
import re
from pathlib import Path
from typing import Any

import connect

USAGE = Path(__file__).parents[2] / "docs" / "usage"
PORT, DASHBOARD = 5678, "http://127.0.0.1:8265"
"""The bridge's port and the cluster's address on these pages."""


def vscode(name: str, **variables: str) -> dict[str, Any]:
    """Return the launch.json configuration `name` of the page for VS Code, with VS Code's variables replaced."""
    texts = blocks("vscode.md", "json")
    for variable, value in variables.items():
        texts = [text.replace(f"${{{variable}}}", value) for text in texts]
    listed = [entry for text in texts for entry in json.loads(text)["configurations"]]
    configuration: dict[str, Any]
    (configuration,) = (entry for entry in listed if entry["name"] == name)
    assert configuration["debugServer"] == PORT
    return configuration


def emacs(port: int, dashboard: str) -> str:
    """Return the Lisp code of the page for Emacs, with another port and another cluster."""
    (text,) = blocks("emacs.md", "elisp")
    assert str(PORT) in text
    assert DASHBOARD in text
    return text.replace(str(PORT), str(port)).replace(DASHBOARD, dashboard)


def printed_for_vscode(port: int, dashboard: str) -> dict[str, Any]:
    """Return the launch.json configuration that `make demo KEEP=1` prints."""
    text = connect.instructions("127.0.0.1", port, dashboard).split("press F5\n")[1].split("\n\n")[0]
    configuration: dict[str, Any] = json.loads(text)
    return configuration


def printed_for_emacs(port: int, dashboard: str) -> str:
    """Return the Lisp code that `make demo KEEP=1` prints."""
    return connect.instructions("127.0.0.1", port, dashboard).split("evaluate this\n")[1]


def blocks(page: str, language: str) -> list[str]:
    """Return the code blocks of one language on a page."""
    text = (USAGE / page).read_text(encoding="utf-8")
    return re.findall(rf"^ *```{language}\n(.*?)^ *```$", text, re.DOTALL | re.MULTILINE)
