"""The user's messages about workers and jobs that end, and about the cluster at the beginning."""

from typing import Any

import pytest

from raydap.core.effects import StartDiscovery
from raydap.core.events import DiscoveryReady, FactsListed, JobsEnded, JobsListed, WorkersEnded
from raydap.core.process_info import EndedJob, EndedWorker, RayFacts
from raydap.core.workers.loss import RUNNING_WAIT_S, STOPPED_WAIT_S
from raydap.errors import Code
from support.fake_client import FakeClient
from support.fake_worker import FakeWorker
from support.playbook import Play


def stopped_and_ended(play: Play, client: FakeClient, *labels: RayFacts) -> list[FakeWorker]:
    """Stop workers, and end the processes of all of them."""
    workers = play.attached(*(f"w{number}" for number in range(len(labels))))
    play.feed(FactsListed({worker.key: label for worker, label in zip(workers, labels, strict=True)}))
    for worker in workers:
        worker.stop()
        client.stop()
    for worker in workers:
        worker.say("terminated")
        client.event("thread")
    client.nothing()
    return workers


def test_the_message_about_a_stopped_worker_that_has_ended_waits_for_rays_reason(play: Play) -> None:
    client = play.session()
    label = RayFacts("Trainer.step", "Trainer", job="01000000")
    one, _ = stopped_and_ended(play, client, label, label)
    play.feed(WorkersEnded((EndedWorker(one.row, "Killed by a signal. SIGKILL", crashed=True),)))
    assert client.told(Code.WORKER_GONE).startswith(
        "Trainer · step: The stopped worker 101 on 10.0.0.1 is gone (Killed by a signal). "
        "The other workers are not affected."
    )
    play.tick(STOPPED_WAIT_S)
    assert "Trainer · step: The stopped worker 102 on 10.0.0.1 is gone (its process has" in client.told(
        Code.WORKER_GONE
    )


@pytest.mark.parametrize("job", ["01000000", ""])
def test_a_job_that_ends_is_one_line_and_its_workers_are_none(play: Play, job: str) -> None:
    client = play.session()
    label = RayFacts("Trainer.step", "Trainer", job=job)
    workers = stopped_and_ended(play, client, label, label, RayFacts("other", job="02000000"))
    ends = tuple(EndedWorker(worker.row, "Its owner has died.", crashed=False) for worker in workers)
    play.feed(WorkersEnded(ends))
    play.feed(JobsEnded((EndedJob("01000000", "Job train.py (raysubmit_1) has failed: exit code 1"),)))
    assert client.event("output")["output"] == "Job train.py (raysubmit_1) has failed: exit code 1\n"
    play.tick(STOPPED_WAIT_S)
    assert client.told(Code.WORKER_GONE).startswith("other: The stopped worker 103 on 10.0.0.1 is gone (Its owner has")
    client.nothing()


@pytest.mark.parametrize("job", ["01000000", ""])
@pytest.mark.parametrize(("crashed_ms", "is_loss"), [(1007, False), (999, True), (0, True)])
def test_a_worker_that_crashes_after_its_job_has_ended_is_no_loss(
    play: Play, job: str, crashed_ms: int, is_loss: bool
) -> None:
    """Threads of Ray sometimes crash while the process of a worker exits."""
    client = play.session()
    (worker,) = play.attached("w1")
    play.feed(FactsListed({worker.key: RayFacts("Trainer.step", "Trainer", job=job)}))
    worker.say("terminated")
    play.feed(JobsEnded((EndedJob("01000000", "Job train.py has ended.", 1000),)))
    assert client.event("output")["output"] == "Job train.py has ended.\n"
    play.feed(WorkersEnded((EndedWorker(worker.row, "It died.", crashed=True, ended_ms=crashed_ms),)))
    if is_loss:
        assert "The running worker 101 on 10.0.0.1 is gone (It died)" in client.told(Code.WORKER_GONE)
    play.tick(RUNNING_WAIT_S)
    client.nothing()


@pytest.mark.parametrize(
    ("running", "workers", "arguments", "text"),
    [
        (
            (),
            0,
            {},
            "the cluster (no running jobs). No worker is paused yet. raydap shows each worker that stops.",
        ),
        ((), 0, {"reach": "paused"}, "No worker is paused yet. raydap shows each worker that calls breakpoint()."),
        (
            ("a.py (01)",),
            1,
            {},
            "(jobs: a.py (01)). Attaching to 1 paused worker, and to every worker that pauses later.",
        ),
        (
            ("a", "b", "c", "d", "e"),
            2,
            {"autoAttach": False},
            "(jobs: a, b, c and 2 more). Found 2 paused workers. Choose",
        ),
    ],
)
def test_the_first_line_says_what_was_found(
    play: Play, running: tuple[str, ...], workers: int, arguments: dict[str, Any], text: str
) -> None:
    client = play.session(arguments)
    play.attached(*(f"w{number}" for number in range(workers)))
    play.feed(JobsListed(running))
    first = client.event("output")
    assert first["category"] == "console"
    assert text in first["output"]
    later = play.joined(arguments)
    assert later.event("output") == first


def test_a_client_reads_the_first_line_once(play: Play) -> None:
    """The client is already attached when the jobs are listed, and still sends its breakpoints."""
    client = play.client()
    attach = client.send("attach")
    play.take(StartDiscovery)
    play.feed(DiscoveryReady("the cluster"))
    client.event("initialized")
    client.answer(attach)
    play.feed(JobsListed(()))
    client.nothing()
    client.request("configurationDone")
    assert "Connected to the Ray cluster" in client.event("output")["output"]
    client.nothing()
