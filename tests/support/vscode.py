"""The real VS Code with raydap's extension, as `make workbench` prepares it (.ci/vscode).

Its tests are programs for Node, built from vscode-ext/test. unit/ROOM/NAME.test.js run without VS Code.
workbench/player.js plays the drives. Each acts as a user at the screen and saves screenshots in
vscode-ext/out/screenshots.
"""

import json
import os
import re
import shutil
import sys
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

from local_cluster import Child, ChildFailed, Cluster

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


class Player:
    """A process that plays one drive after another. Their windows share a code-server and a browser."""

    def __init__(self, cluster: Cluster, directory: Path) -> None:
        self._cluster = cluster
        #: The folder of the processes' logs.
        self._directory = directory
        #: Ends the running process; it is empty before the first drive, and after a drive without an end.
        self._running = ExitStack()
        self._child: Child | None = None
        #: The FIFO from which the process reads the names of drives. It ends when this is closed.
        self._names: IO[bytes] | None = None

    def drive(self, name: str, directory: Path) -> None:
        """Play a drive to its end, and write its log into the directory.

        Raises AssertionError with its report, ChildFailed if it does not end, and NotInstalled.
        """
        if self._child is None or self._names is None:
            self._child, self._names = self._start()
        child = self._child
        before = len(child.output)
        self._names.write(f"{name}\n".encode())
        try:
            ended = child.wait_for(rf"(?m)^■ {name} has (passed|failed)$", PATIENCE_S)
        except ChildFailed:
            self._running.close()
            self._child = None
            raise
        finally:
            report = child.output[before:]
            (directory / f"{name}.log").write_text(report, encoding="utf-8")
        assert ended[1] == "passed", report
        if opened := re.search(r"the window is open after ([\d.]+) s", report):
            time_report.record("VS Code", float(opened[1]))

    def end(self) -> None:
        """End the process, after it has ended the browser and the servers."""
        with self._running:
            if self._child is not None and self._names is not None:
                self._names.close()
                self._child.wait()

    def _start(self) -> tuple[Child, IO[bytes]]:
        folder = self._running.enter_context(_short_folder())
        fifo = Path(folder, "drives")
        os.mkfifo(fifo)
        given = {
            "RAY_ADDRESS": self._cluster.address,
            "RAYDAP_TEST_CHROMIUM": chromium(),
            "RAYDAP_TEST_DASHBOARD": self._cluster.dashboard,
            "RAYDAP_TEST_DRIVES": str(fifo),
            "RAYDAP_TEST_PYTHON": sys.executable,
            "RAYDAP_TEST_SCREENSHOTS": str(OUT / "screenshots"),
            "RAYDAP_TEST_VSIX": str(extension()),
            "RAYDAP_TEST_WORKBENCH": str(_there(OUT / "code-server")),
        }
        script = _there(OUT / "workbench" / "player.js")
        log = self._directory / f"{len(list(self._directory.iterdir()))}.log"
        # With O_WRONLY, this would wait for the process to open it, too.
        names = self._running.enter_context(os.fdopen(os.open(fifo, os.O_RDWR), "wb", buffering=0))
        return self._running.enter_context(_node([str(script)], given, folder, log)), names


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
    with _short_folder() as folder, _node(arguments, given, folder, log) as child:
        code = child.wait(PATIENCE_S)
        assert code == 0, f"ended with code {code}:\n{child.output}"


def _short_folder() -> TemporaryDirectory[str]:
    """Create a folder that also removes what remains of a process that had to be killed.

    Its name is short because it contains sockets.
    """
    return TemporaryDirectory(prefix="raydap-", dir="/tmp", ignore_cleanup_errors=True)


def _node(arguments: list[str], given: dict[str, str], folder: str, log: Path) -> Child:
    given = {**given, "TMPDIR": folder, "XDG_RUNTIME_DIR": folder}
    return Child([str(_there(OUT / "bin" / "node")), *arguments], log, given, cwd=HERE)


def _there(path: Path) -> Path:
    if not path.exists():
        raise NotInstalled(
            f"there is no {path.relative_to(HERE.parent)}: `make workbench` makes it, or prints what prevents "
            "that; RAYDAP_WITHOUT_VSCODE=1 leaves these tests out"
        )
    return path
