"""The editor's breakpoints in programs of Ray's libraries, which create the workers: Data, Serve and Train."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from dap_client import Client
from local_cluster import Child, Cluster

from support.launched import ended, line_of, start, stopped_line
from support.look import bodies, evaluate, go_on, name_of

WAIT_S = 90
"""Long enough for the three actors of Ray Serve before the first stop, and for a debugged worker's import of pandas."""

Launch = Callable[..., Client]


NO_ACTORS = """\
import contextlib
import ray

ray.init()
while actors := ray.util.list_named_actors(all_namespaces=True):
    for actor in actors:
        with contextlib.suppress(ValueError):
            ray.kill(ray.get_actor(**actor))
"""


@pytest.fixture(scope="module", autouse=True)
def _no_actors_left(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Kill the actors that Ray Data, and Ray Serve in an interrupted program, keep detached.

    Other tests list all actors of the cluster, and these would not end before the cluster.
    """
    yield
    folder = tmp_path_factory.mktemp("actors")
    (folder / "kill.py").write_text(NO_ACTORS)
    with Child([sys.executable, "kill.py"], folder / "kill.log", {"RAY_ADDRESS": cluster.address}, folder) as child:
        assert child.wait() == 0, child.output


@pytest.fixture
def client(client: Client) -> Client:
    client.timeout = WAIT_S
    return client


@pytest.fixture
def launch(client: Client, cluster: Cluster, tmp_path: Path) -> Launch:
    return lambda source, *texts, **more: start(client, cluster, tmp_path, source, *texts, **more)


def next_stop(client: Client, text: str) -> dict[str, Any]:
    """Wait for the next stop, which has to be at the line with this text."""
    stop = client.wait_event("stopped")
    assert stop["reason"] == "breakpoint", stop
    assert text in stopped_line(client, stop)
    return stop


DATA = """\
import ray

def double(row):
    return {"id": 2 * row["id"]}  # in a task

class Add:
    def __init__(self, offset):
        self.offset = offset  # in __init__

    def __call__(self, batch):
        return {"id": batch["id"] + self.offset}  # in __call__

if __name__ == "__main__":
    ray.init()
    numbers = ray.data.from_items([{"id": number} for number in range(4)], override_num_blocks=1)
    numbers = numbers.map(double, num_cpus=0.1)
    # Another number of CPUs keeps Ray from running both in one actor.
    numbers = numbers.map_batches(
        Add, fn_constructor_args=[100], batch_size=2, num_cpus=0.2, compute=ray.data.ActorPoolStrategy(size=1)
    )
    print("result: " + str([row["id"] for row in numbers.take_all()]))
"""

DATA_RESULT = "result: [100, 102, 104, 106]"

DATA_PLACES = {"# in a task": "row['id']", "# in __init__": "offset", "# in __call__": "batch['id'].tolist()"}
"""The expression to evaluate at each place."""


@pytest.mark.core
def test_ray_data_stops_from_the_first_row_and_the_first_batch_on(launch: Launch) -> None:
    client = launch(DATA, *DATA_PLACES)
    seen: dict[str, list[str]] = {place: [] for place in DATA_PLACES}
    names = dict.fromkeys(DATA_PLACES, "")
    for _ in range(4 + 1 + 2):
        stop = client.wait_event("stopped")
        assert stop["reason"] == "breakpoint"
        (place,) = (text for text in DATA_PLACES if text in stopped_line(client, stop))
        seen[place].append(evaluate(client, stop, DATA_PLACES[place]))
        names[place] = names[place] or name_of(client, stop, "_?Map.*")[0]
        go_on(client, stop)
    assert seen == {
        "# in a task": ["0", "1", "2", "3"],
        "# in __init__": ["100"],
        "# in __call__": ["[0, 2]", "[4, 6]"],
    }
    assert names["# in a task"] == "Map(double)"
    for place in ("# in __init__", "# in __call__"):
        assert "MapWorker" in names[place]
    assert DATA_RESULT in ended(client)


def test_conditions_and_logpoints_hold_in_ray_data(client: Client, cluster: Cluster, tmp_path: Path) -> None:
    """The program is run by `raydap run`, and the session attaches before its first line."""
    program = tmp_path / "program.py"
    program.write_text(DATA)
    command = [sys.executable, "-m", "raydap", "run", "--wait", str(program)]
    with Child(command, tmp_path / "program.log", {"RAY_ADDRESS": cluster.address}, tmp_path) as child:
        client.send("initialize", adapterID="raydap", clientID="script")
        attached = client.send("attach", dashboard=cluster.dashboard)
        client.wait_event("initialized")
        wanted = [
            {"line": line_of(DATA, "# in a task"), "condition": "row['id'] == 2"},
            {"line": line_of(DATA, "# in __call__"), "logMessage": "batch {batch['id'].tolist()}"},
        ]
        client.request("setBreakpoints", source={"path": str(program)}, breakpoints=wanted)
        client.request("configurationDone")
        client.result(attached, "attach")
        stop = next_stop(client, "# in a task")
        assert evaluate(client, stop, "row['id']") == "2"
        go_on(client, stop)
        assert child.wait(WAIT_S) == 0, child.output
        assert DATA_RESULT in child.output
    client.wait_event("output", lambda body: "batch [4, 6]" in body["output"])
    assert any("batch [0, 2]" in body["output"] for body in bodies(client, "output"))
    assert len(bodies(client, "stopped")) == 1


SERVE = """\
import socket
import urllib.request

import ray
from ray import serve

@serve.deployment(ray_actor_options={"num_cpus": 0.1})
class Doubler:
    def __init__(self, factor):
        self.factor = factor  # in __init__

    async def __call__(self, request):
        number = int(request.query_params["number"])
        return str(number * self.factor)  # in a coroutine

    def triple(self, number):
        return 3 * number  # in a method

if __name__ == "__main__":
    ray.init()
    # The socket is open until the end, so that no other process gets the port before Serve listens there.
    reserved = socket.socket()
    reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    reserved.bind(("127.0.0.1", 0))
    port = reserved.getsockname()[1]
    try:
        serve.start(http_options={"host": "127.0.0.1", "port": port})
        handle = serve.run(Doubler.bind(2))
        answer = urllib.request.urlopen(f"http://127.0.0.1:{port}/?number=21").read().decode()
        print("result: " + " ".join(map(str, [answer, handle.triple.remote(4).result()])))
    finally:
        serve.shutdown()
        reserved.close()
"""


@pytest.mark.core
def test_ray_serve_stops_in_a_replica_and_answers_after_it(launch: Launch) -> None:
    client = launch(SERVE, "# in __init__", "# in a coroutine", "# in a method")
    go_on(client, next_stop(client, "# in __init__"))
    for place, number in (("# in a coroutine", "21"), ("# in a method", "4")):
        stop = next_stop(client, place)
        assert evaluate(client, stop, "number") == number
        assert name_of(client, stop, "SERVE.*")[0].startswith("SERVE_REPLICA::default#Doubler#")
        go_on(client, stop)
    assert "result: 42 12\n" in ended(client)


TRAIN = """\
import tempfile

import ray
from ray import train

try:
    from ray.train.v2.api.data_parallel_trainer import DataParallelTrainer
except ImportError:  # Older than Ray 2.43.
    from ray.train.data_parallel_trainer import DataParallelTrainer

def train_model(config):
    rank = train.get_context().get_world_rank()
    loss = config["loss"] / (1 + rank)  # in a worker
    with tempfile.TemporaryDirectory() as folder:
        train.report({"loss": loss}, checkpoint=train.Checkpoint.from_directory(folder))

if __name__ == "__main__":
    ray.init()
    with tempfile.TemporaryDirectory() as folder:
        trainer = DataParallelTrainer(
            train_model,
            train_loop_config={"loss": 6.0},
            scaling_config=train.ScalingConfig(num_workers=2, resources_per_worker={"CPU": 0.1}),
            run_config=train.RunConfig(name="stops", storage_path=folder),
        )
        print("result: " + str(trainer.fit().metrics["loss"]))
"""


@pytest.mark.core
def test_ray_train_stops_in_each_worker(launch: Launch) -> None:
    client = launch(TRAIN, "# in a worker")
    stops = [next_stop(client, "# in a worker") for _ in range(2)]
    assert sorted(evaluate(client, stop, "rank") for stop in stops) == ["0", "1"]
    for stop in stops:
        assert name_of(client, stop, "RayTrainWorker.*")
        go_on(client, stop)
    assert "result: 6.0\n" in ended(client)
