"""The names of the workers that wait for Ray's old debugger."""

import io

import msgspec
import pytest
from rich.console import Console

from raydap.terminal.debugger import pdb_commands
from raydap.terminal.debugger.debugger import Debugger
from support.scripted_session import ScriptedLive
from unit.terminal.made_up_pdbs import entry, waiting


@pytest.mark.parametrize("task", ["collect", ""])
def test_a_name_does_not_depend_on_what_ray_has_listed(task: str) -> None:
    worker = msgspec.structs.replace(entry("w1", task=task), title="collect 4711" if task else "worker 4711")
    output = io.StringIO()
    pdb_commands.show_list(Debugger(ScriptedLive(worker), Console(file=output, width=80)), [waiting("w1")])
    assert "collect 4711 " in output.getvalue()
