"""Which processes of this machine are raydap's."""

import pytest

from raydap.cluster.ray_process import clusters_here


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("python3 -m raydap adapter", "adapter"),
        ("/opt/python3.12 /opt/bin/raydap serve --once", "serve"),
        ("/opt/python3.12 -m raydap session keep --idle 30m", "session"),
        # This command ends soon.
        ("/opt/python3.12 -m raydap session start", None),
        ("/opt/python3.12 -m raydap ps session keep", None),
        ("vim raydap session keep", None),
        ("", None),
    ],
)
def test_which_command_a_process_runs(line: str, command: str | None) -> None:
    assert clusters_here._raydap_command(line.split()) == command
