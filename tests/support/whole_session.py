"""A program without Ray that stops twice, and a session from its beginning to its end."""

from typing import Any

from dap_client import Client

from support.debuggee import Debuggee
from support.look import go_on, local_variables

PROGRAM = """\
for turn in range(2):
    breakpoint()
print("DONE")
"""


def walk_through(client: Client, debuggee: Debuggee, **arguments: Any) -> None:
    """Run a whole session, with both stops, to the program's end."""
    client.start_session("attach", {"workers": [f"{debuggee.host}:{debuggee.port}"], **arguments})
    for turn in range(2):
        stop = client.wait_event("stopped")
        assert local_variables(client, stop)["turn"] == str(turn)
        go_on(client, stop)
    assert debuggee.child.wait() == 0
    assert "DONE" in debuggee.child.output
    client.request("disconnect")
