"""The configurations that the documentation shows, as the editors take them."""

import json
import re
from pathlib import Path
from typing import Any

import connect

USAGE = Path(__file__).parents[2] / "docs" / "usage"
PORT, DASHBOARD = 5678, "http://127.0.0.1:8265"
"""Where the bridge and the cluster are on those pages."""


def vscode(name: str, **variables: str) -> dict[str, Any]:
    """The configuration of this name in launch.json on the page for VS Code, with VS Code's variables put in."""
    texts = blocks("vscode.md", "json")
    for variable, value in variables.items():
        texts = [text.replace(f"${{{variable}}}", value) for text in texts]
    listed = [entry for text in texts for entry in json.loads(text)["configurations"]]
    configuration: dict[str, Any]
    (configuration,) = (entry for entry in listed if entry["name"] == name)
    assert configuration["debugServer"] == PORT
    return configuration


def emacs(port: int, dashboard: str) -> str:
    """What the page for Emacs has the user evaluate, for a bridge and a cluster elsewhere."""
    (text,) = blocks("emacs.md", "elisp")
    assert str(PORT) in text
    assert DASHBOARD in text
    return text.replace(str(PORT), str(port)).replace(DASHBOARD, dashboard)


def printed_for_vscode(port: int, dashboard: str) -> dict[str, Any]:
    """What `make demo KEEP=1` prints."""
    text = connect.instructions("127.0.0.1", port, dashboard).split("press F5\n")[1].split("\n\n")[0]
    configuration: dict[str, Any] = json.loads(text)
    return configuration


def printed_for_emacs(port: int, dashboard: str) -> str:
    """What `make demo KEEP=1` prints."""
    return connect.instructions("127.0.0.1", port, dashboard).split("evaluate this\n")[1]


def blocks(page: str, language: str) -> list[str]:
    """The code of one language on a page."""
    text = (USAGE / page).read_text(encoding="utf-8")
    return re.findall(rf"^ *```{language}\n(.*?)^ *```$", text, re.DOTALL | re.MULTILINE)
