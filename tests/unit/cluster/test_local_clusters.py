"""The clusters of this machine: which are listed, which is chosen, and the message when the choice is not certain."""

import asyncio
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import pytest

from raydap.cluster.dashboard import local_clusters
from raydap.cluster.dashboard.local_clusters import LocalCluster
from raydap.cluster.ray_process.clusters_here import the_one_meant
from raydap.cluster.ray_process.ray_query import query
from raydap.errors import Code
from unit.cluster.fake_dashboard import FakeDashboard

NOBODY = 65534
MINE = LocalCluster("10.0.0.1:1", "http://10.0.0.1:8265", "me", True, 0.0)
HERS = LocalCluster("10.0.0.2:1", None, "alice", False, 60.0)

Raylet = Callable[..., None]


@pytest.fixture
def raylet() -> Iterator[Raylet]:
    """Yield `raylet(address, dashboard, user)`, which starts an idle process with the command line of a raylet."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        os.chmod(folder, 0o755)
        program = shutil.copy("/bin/sh", os.path.join(folder, "raylet"))

        def start(address: str, dashboard: str | None = None, user: int | None = None) -> None:
            worker = "python worker.py" + (f" --webui={dashboard} --more" if dashboard else "")
            command = ["/ray/raylet", "-c", "read x", f"--gcs-address={address}", f"--python_worker_command={worker}"]
            process = subprocess.Popen(command, executable=program, stdin=subprocess.PIPE, user=user, cwd="/")
            stack.callback(process.wait)
            assert process.stdin is not None
            stack.callback(process.stdin.close)

        yield start


def found_at(*addresses: str) -> list[dict[str, Any]]:
    """Return what Ray's process reports about the clusters at these addresses. Others may run on this machine."""
    answer = asyncio.run(query("clusters", {}, os.environ, 60.0))
    return [cluster for cluster in answer["clusters"] if cluster["address"] in addresses]


def test_each_cluster_is_listed_once_with_what_its_command_line_says(raylet: Raylet) -> None:
    raylet("10.255.0.1:1", "10.255.0.1:8265")
    raylet("10.255.0.1:1", "10.255.0.1:8265")
    raylet("10.255.0.2:1")
    found = found_at("10.255.0.1:1", "10.255.0.2:1")
    assert {cluster["address"]: cluster["url"] for cluster in found} == {
        "10.255.0.1:1": "http://10.255.0.1:8265",
        "10.255.0.2:1": None,
    }
    assert [cluster["ours"] for cluster in found] == [True, True]
    assert [cluster["launched"] for cluster in found] == [True, True], "they descend from the process that asks"
    assert found[0]["started"] >= found[1]["started"]


@pytest.mark.skipif(os.getuid() != 0, reason="only root can start processes of another user")
def test_a_cluster_of_another_user_is_not_ours(raylet: Raylet) -> None:
    raylet("10.255.0.3:1", user=NOBODY)
    (cluster,) = found_at("10.255.0.3:1")
    assert not cluster["ours"]
    assert cluster["owner"] == "nobody"


def row(address: str, ours: bool = True, started: float = 10.0, launched: bool = False) -> dict[str, Any]:
    return {"address": address, "ours": ours, "started": started, "launched": launched}


@pytest.mark.parametrize(
    ("clusters", "meant"),
    [
        ([], None),
        ([row("a")], "a"),
        ([row("a", ours=False)], None),
        ([row("a", ours=False), row("b")], "b"),
        ([row("a"), row("b")], None),
        ([row("a", launched=True), row("b")], None),
    ],
)
def test_the_only_cluster_of_this_user_is_meant(clusters: list[dict[str, Any]], meant: str | None) -> None:
    assert the_one_meant(clusters, "", None) == meant
    assert the_one_meant(clusters, "", "a") == meant, "another program may have recorded it"


@pytest.mark.parametrize(
    ("clusters", "own", "silent"),
    [
        ([row("new", started=21.0), row("own", started=20.5, launched=True), row("recorded")], "own", "own"),
        ([row("newer", started=22.0), row("new", started=21.0), row("recorded")], None, "recorded"),
        ([row("hers", ours=False, started=21.0), row("old"), row("recorded")], None, "recorded"),
        ([row("recorded", ours=False), row("old")], None, None),
        ([row("only")], None, None),
    ],
)
def test_a_launched_program_has_its_own_cluster_or_ray_s_choice(
    clusters: list[dict[str, Any]], own: str | None, silent: str | None
) -> None:
    """The recorded cluster is a guess. It is not needed if the driver reports its cluster."""
    assert the_one_meant(clusters, "reports", "recorded") == own
    assert the_one_meant(clusters, "silent", "recorded") == silent


def told(*clusters: LocalCluster, pattern: str = '"dashboard": "{}"') -> str:
    problem = asyncio.run(local_clusters.not_named(list(clusters), pattern, {"HOME": "/nonexistent"}))
    assert problem.code is Code.CLUSTER_NOT_NAMED
    return problem.text


def test_several_clusters_are_listed_with_the_argument_to_give_and_what_they_run() -> None:
    async def script() -> str:
        fake = FakeDashboard()
        fake.answers["/api/jobs/"] = [
            {"status": "RUNNING", "entrypoint": "python train.py --lr 1"},
            {"status": "SUCCEEDED", "entrypoint": "python old.py"},
            {"status": "RUNNING", "entrypoint": "python /lib/raydap/cluster/ray_process/raydap_process.py survey"},
            {"status": "PENDING", "entrypoint": None, "submission_id": "nightly"},
        ]
        async with fake.running():
            busy = replace(MINE, url=fake.url)
            unknown = replace(MINE, url=None)
            problem = await local_clusters.not_named([HERS, busy, unknown], '"dashboard": "{}"', {})
            return problem.text.replace(fake.url, "URL")

    first, hers = (local_clusters.minute(cluster.started) for cluster in (MINE, HERS))
    assert asyncio.run(script()).split("\n") == [
        "You run 2 Ray clusters on this machine; name the one to debug:",
        f'  "dashboard": "URL" (by me, since {first}, runs train.py, nightly),',
        f'  "dashboard": "10.0.0.1:1" (by me, since {first}),',
        f'  "dashboard": "10.0.0.2:1" (by alice, since {hers}).',
    ]


def test_clusters_of_others_are_never_asked() -> None:
    """Their dashboards could demand this user's token."""

    async def script() -> list[Any]:
        fake = FakeDashboard()
        async with fake.running():
            await local_clusters.not_named([replace(HERS, url=fake.url)], "{}", {})
        return fake.requests

    assert asyncio.run(script()) == []
    text = told(HERS, replace(HERS, owner="bob"), pattern="--dashboard {}")
    assert text.startswith("No Ray cluster on this machine is yours; to debug one of alice or bob, name it:")
    assert "--dashboard 10.0.0.2:1 (by alice," in text


def test_a_cluster_that_does_not_answer_is_still_listed() -> None:
    async def script() -> str:
        fake = FakeDashboard()
        async with fake.running():
            pass
        return (await local_clusters.not_named([replace(MINE, url=fake.url)], "{}", {})).text

    assert asyncio.run(script()).endswith(", does not answer).")
