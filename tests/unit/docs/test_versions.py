"""The oldest version of Ray is the same everywhere."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]

PLACES = {
    "pyproject.toml": r'"ray\[[a-z,]+\]>=([\d.]+)"',
    "docs/versions.md": r"Ray from ([\d.]+) on",
    ".github/workflows/tests.yml": r"ray: ==([\d.]+)\.\d+",
    "vscode-ext/walkthrough/python.md": r"Ray +\| ([\d.]+) or newer",
}


@pytest.mark.parametrize("place", PLACES)
def test_the_oldest_ray_is_that_of_the_makefile(place: str) -> None:
    (oldest,) = re.findall(r"^OLDEST_RAY = (\d+\.\d+)\.\d+$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert set(re.findall(PLACES[place], (ROOT / place).read_text("utf-8"))) == {oldest}
