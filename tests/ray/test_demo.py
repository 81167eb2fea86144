"""`make demo` works as it prints, and leaves nothing behind that it does not print."""

import re
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from dap_client import Client
from local_cluster import Child

WALK = Path(__file__).parents[2] / "docs" / "examples" / "walk.py"

pytestmark = pytest.mark.skipif(not Path("/proc").exists(), reason="needs several loopback addresses, so Linux")


@pytest.mark.core
def test_the_walk_sees_every_stop_and_the_jobs_result(run_program: Callable[..., Child]) -> None:
    walk = run_program(WALK, "--workers=2", "--iterations=1")
    assert walk.wait(120) == 0, walk.output
    for line in ("stops seen: 9 of 9", "re-attachments: 0", "job: exit code 0, result: policy 0.50 after 1 iterations"):
        assert line in walk.output
    actors = (r"RolloutWorker [01] · collect", "RewardServer · score", "Trainer · __init__", "Trainer · update")
    for who in (*actors, "normalise", "driver.*", "evaluate"):
        assert re.search(rf"^\d/9  {who} · \d+ · [\w.-]+$", walk.output, re.MULTILINE), walk.output
    assert re.search(r"frames: __init__ \(trainer\.py:\d+\)", walk.output), "only the client has set this breakpoint"
    assert "division by zero" in walk.output


def test_ctrl_c_ends_everything_it_started(run_program: Callable[..., Child]) -> None:
    walk = run_program(WALK, "--workers=1")
    walk.wait_for(r"1/\d+")
    walk.process.send_signal(signal.SIGINT)
    assert walk.wait() == 130, walk.output
    assert "Traceback" not in walk.output


def test_keep_leaves_a_bridge_to_connect_to_and_prints_how_to_end_it(
    run_program: Callable[..., Child], connect_to: Callable[[str, int], Client]
) -> None:
    walk = run_program(WALK, "--keep", "--workers=1")
    assert walk.wait(120) == 0, walk.output
    host, port = walk.wait_for(r"bridge ([\d.]+):(\d+)").groups()
    dashboard = walk.wait_for(r"dashboard (http\S+),")[1]
    end = walk.wait_for(r"(?m)^ +(kill .*; rm -r (/tmp/raydap-\w+))$")
    try:
        client = connect_to(host, int(port))
        client.start_session("attach", {"dashboard": dashboard})
        assert client.wait_event("stopped")["reason"] == "breakpoint"
    finally:
        assert Child(["sh", "-c", end[1]], walk.log.with_name("end.log")).wait() == 0
    assert not Path(end[2]).exists()
