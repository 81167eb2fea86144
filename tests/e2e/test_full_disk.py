"""Commands whose files cannot be written."""

from pathlib import Path

import pytest

from support.raydap_command import raydap


@pytest.mark.parametrize(("exit_code", "code"), [(0, 1), (7, 7)])
def test_a_report_that_cannot_be_written_costs_only_the_report(tmp_path: Path, exit_code: int, code: int) -> None:
    program, page = tmp_path / "program.py", tmp_path / "report.html"
    program.write_text(f"raise SystemExit({exit_code})\n")
    page.symlink_to("/dev/full")
    output = raydap("report", "--quiet", "--out", str(page), str(program), code=code)
    assert (
        f'The program has ended with exit code {exit_code}. The file "{page}" cannot be written: '
        "No space left on device. Choose another path. [raydap 1014]" in output
    )
