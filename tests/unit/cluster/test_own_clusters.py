"""The clusters of this user on this machine, which the Ray view of VS Code lists by itself."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

from raydap.cluster.machine.own_clusters import follow, own_clusters
from support.made_up_proc import add_process

WORKERS = "--python_worker_command=python worker.py --webui=127.0.0.1:8265 --node=1"


def test_each_cluster_of_this_user_is_listed_once(tmp_path: Path) -> None:
    assert own_clusters(tmp_path) == []
    add_process(tmp_path, 1, "/x/raylet", "--gcs-address=10.0.0.1:6379", WORKERS)
    add_process(tmp_path, 2, "/x/raylet", "--gcs-address=10.0.0.1:6379", WORKERS)
    # Ray 2.39 does not name the dashboard.
    add_process(tmp_path, 3, "/x/raylet", "--gcs-address=10.0.0.2:6379", "--python_worker_command=python worker.py")
    add_process(tmp_path, 4, "/x/raylet", "--gcs-address=10.0.0.3:6379", uids=4 * [os.getuid() + 1])
    add_process(tmp_path, 5, "/x/raylet", "--session_dir=/tmp/ray")
    assert own_clusters(tmp_path) == ["10.0.0.2:6379", "http://127.0.0.1:8265"]


def test_changes_are_written_until_the_input_ends() -> None:
    reader, writer = os.pipe()
    looks: Iterator[list[str]] = iter([[], [], ["http://a:1"], ["http://a:1"]])
    written: list[str] = []

    def look() -> list[str]:
        found = next(looks)
        # The first looks are followed by input, which ends the wait; then the input ends.
        os.write(writer, b"\n") if found == [] else None
        if len(written) == 2:
            os.close(writer)
        return found

    os.write(writer, b"\n")
    follow(written.append, reader, look)
    os.close(reader)
    assert [json.loads(each) for each in written] == [[], ["http://a:1"]]
