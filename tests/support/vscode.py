"""The real VS Code with raydap's extension, as `make workbench` prepares it (.ci/vscode).

Its tests are programs for Node, built from vscode-ext/test. unit/ROOM/NAME.test.js run without VS Code. Each
workbench/NAME.drive.js acts as a user at the screen and saves screenshots in vscode-ext/out/screenshots.
"""

import json
import os
import re
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from local_cluster import Child, Cluster

from support import time_report

HERE = Path(__file__).parents[2] / "vscode-ext"
OUT = HERE / "out"
LEFT_OUT = os.environ.get("RAYDAP_WITHOUT_VSCODE") == "1"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
PATIENCE_S = 300.0


class NotInstalled(Exception):
    """A part is not installed here. The text states what to do."""


def drives() -> list[str]:
    """Return the names of the drives in the checkout, built or not."""
    return sorted(path.name.removesuffix(".drive.ts") for path in HERE.glob("test/workbench/*.drive.ts"))


def drive(name: str, cluster: Cluster, directory: Path) -> None:
    """Run a drive to its end. Raises AssertionError with its report, and NotInstalled."""
    script = _there(OUT / "workbench" / f"{name}.drive.js")
    given = {
        "RAY_ADDRESS": cluster.address,
        "RAYDAP_TEST_CHROMIUM": chromium(),
        "RAYDAP_TEST_DASHBOARD": cluster.dashboard,
        "RAYDAP_TEST_PYTHON": sys.executable,
        "RAYDAP_TEST_SCREENSHOTS": str(OUT / "screenshots"),
        "RAYDAP_TEST_VSIX": str(extension()),
        "RAYDAP_TEST_WORKBENCH": str(_there(OUT / "code-server")),
    }
    _run(["--test-reporter=spec", str(script)], given, directory / f"{name}.log")


def units(directory: Path) -> None:
    """Run all unit tests. Raises AssertionError with their report, and NotInstalled."""
    scripts = sorted(str(script) for script in _there(OUT / "unit").rglob("*.test.js"))
    _run(["--test", "--test-reporter=spec", *scripts], {}, directory / "units.log")


def extension() -> Path:
    """Return the path of the packaged extension. Raises NotInstalled."""
    version = json.loads((HERE / "package.json").read_text(encoding="utf-8"))["version"]
    return _there(HERE / f"raydap-{version}.vsix")


def chromium() -> str:
    """Return the path of the browser. Raises NotInstalled."""
    for name in BROWSERS:
        if browser := shutil.which(name):
            return browser
    raise NotInstalled(
        "the extension is tested in Chromium, which is not here: install it (Debian: apt-get install chromium), or set "
        "RAYDAP_WITHOUT_VSCODE=1 to leave these tests out"
    )


def _run(arguments: list[str], given: dict[str, str], log: Path) -> None:
    # This folder also removes what remains of a drive that had to be killed. Its name is short because it contains
    # sockets.
    with TemporaryDirectory(prefix="raydap-", dir="/tmp", ignore_cleanup_errors=True) as folder:
        given |= {"TMPDIR": folder, "XDG_RUNTIME_DIR": folder}
        with Child([str(_there(OUT / "bin" / "node")), *arguments], log, given, cwd=HERE) as child:
            code = child.wait(PATIENCE_S)
            assert code == 0, f"ended with code {code}:\n{child.output}"
            if opened := re.search(r"the window is open after ([\d.]+) s", child.output):
                time_report.record("VS Code", float(opened[1]))


def _there(path: Path) -> Path:
    if not path.exists():
        raise NotInstalled(
            f"there is no {path.relative_to(HERE.parent)}: `make workbench` makes it, or prints what prevents "
            "that; RAYDAP_WITHOUT_VSCODE=1 leaves these tests out"
        )
    return path
