"""Words of raydap that the extension repeats."""

import re
from pathlib import Path

from raydap.analysis.sets.set_syntax import QUALIFIERS

SOURCE = Path(__file__).parents[3] / "vscode-ext" / "src"


def test_the_comparison_completes_all_qualifiers_of_a_set() -> None:
    text = (SOURCE / "text" / "set-completion.ts").read_text(encoding="utf-8")
    (words,) = re.findall(r"^const QUALIFIERS = \[(.*)\];$", text, re.MULTILINE)
    assert re.findall(r"'(\w+)'", words) == list(QUALIFIERS)
