"""The program of the README, started as its F5 does it, shows what the README describes."""

import re
from pathlib import Path

from dap_client import Client
from local_cluster import Cluster

from support.look import bodies, line_of, problems, walk

README = Path(__file__).parents[2] / "README.md"


def test_the_program_stops_nine_times_in_three_actors_and_prints_its_result(
    cluster: Cluster, client: Client, tmp_path: Path
) -> None:
    text = README.read_text(encoding="utf-8")
    (source,) = re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    (result,) = re.findall(r"After nine stops the program prints `(.*?)`", text)
    program = tmp_path / "train.py"
    program.write_text(source)
    arguments = {"program": str(program), "cwd": str(tmp_path), "env": {"RAY_ADDRESS": cluster.address}}
    breakpoints = {str(program): [line_of(source, "print(f")]}
    client.start_session("launch", {**arguments, "dashboard": cluster.dashboard}, breakpoints=breakpoints)
    seen = walk(client, 9, "rank", "step", "gradient")
    assert seen == {(str(rank), str(step), str(10 * rank + step)): 1 for rank in range(3) for step in range(3)}
    assert client.wait_event("exited") == {"exitCode": 0}
    assert len({stop["threadId"] for stop in bodies(client, "stopped")}) == 3
    assert result in "".join(body["output"] for body in bodies(client, "output"))
    assert problems(client) == []
