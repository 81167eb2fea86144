"""Fixtures for tests that need processes. Everything that they start ends with the test, even if it fails."""

import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from dap_client import Client
from local_cluster import Child, Cluster
from xdist.remote import Producer

from support import failure_details, fork_server, old_debugpy, processes, scheduling
from support.bridge import Bridge
from support.certificates import Certificate
from support.conformance import validate
from support.debuggee import Debuggee
from support.examples import load_profiles
from support.failure_details import FailureFiles
from support.light_ray import LIGHT
from support.progress import Progress
from support.scheduling import FilesAndTests
from support.time_report import StartReport, TimeReport

OLDEST_DEBUGPY = "1.8.0"

# This has to precede Hypothesis's own option and the import of test modules, which call `examples`.
load_profiles()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("raydap")
    group.addoption("--progress", action="store_true", help="print how far the run is, and not a dot for each test")
    group.addoption("--times", action="store_true", help="print where the time of the run goes")
    group.addoption("--failures", metavar="FOLDER", help="write a file for each failure")
    group.addoption("--oldest-debugpy", action="store_true", help=f"run the code of workers in {OLDEST_DEBUGPY}, too")
    group.addoption("--all-modes", action="store_true", help="run foreign programs in all modes of raydap")
    group.addoption("--random", type=int, metavar="SEED", help="run the tests in a random order")


def pytest_configure(config: pytest.Config) -> None:
    """Prepare a run of tests. A SIGTERM, such as that of `timeout`, ends all processes of the tests, too.

    With pytest-xdist this runs in the process that leads, then in each of its workers.
    """
    processes.mark()
    # Without cached bytecode, each process that a test starts compiles all of raydap, which takes half a second.
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ.update(LIGHT)
    # A shell starts background jobs with SIGINT ignored. Programs that inherit this would ignore Ctrl-C.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # An interrupted run still prints the failures, the reasons of skips, and the slowest tests.
    signal.signal(signal.SIGTERM, lambda *_: pytest.exit("terminated", returncode=pytest.ExitCode.INTERRUPTED))
    leads = not hasattr(config, "workerinput")
    config.pluginmanager.register(failure_details)
    if config.option.progress and leads:
        config.pluginmanager.register(Progress(config))
    if config.option.failures and leads:
        config.pluginmanager.register(FailureFiles(Path(config.option.failures)))
    if config.option.times:
        config.pluginmanager.register(StartReport())
        if leads:
            config.pluginmanager.register(TimeReport())


def pytest_unconfigure() -> None:
    """End leftover processes without a grace period.

    pytest-xdist kills a worker that takes too long to end, and then this worker ends nothing.
    """
    processes.end_marked(grace=0)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> FilesAndTests:
    return FilesAndTests(config, log)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.option.oldest_debugpy:
        leave_out_oldest_debugpy(config, items)
    if config.option.random is None:
        scheduling.sort(items)
    else:
        scheduling.shuffle(items, config.option.random)


def leave_out_oldest_debugpy(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the tests with the oldest debugpy. `make check` tests versions of debugpy, Python and Ray."""
    old = {item for item in items if in_oldest_debugpy(item)}
    config.hook.pytest_deselected(items=list(old))
    items[:] = [item for item in items if item not in old]


def in_oldest_debugpy(item: pytest.Item) -> bool:
    return hasattr(item, "callspec") and item.callspec.params.get("packages") == OLDEST_DEBUGPY


@pytest.fixture(scope="session", autouse=True)
def _no_process_left() -> Iterator[None]:
    """End leftover processes and fail if there are any.

    This fixture is set up before all others, and so torn down after them.
    """
    yield
    fork_server.end_all()
    overdue = processes.end_marked(grace=10)
    assert not overdue, "processes that no test ended:\n" + "\n".join(overdue)


@pytest.fixture(scope="session", autouse=True)
def _no_file_left(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the connection files of hubs in a folder of the test session, away from those of the user."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("runtime")))
        yield


@pytest.fixture
def children() -> Iterator[ExitStack]:
    """Yield a stack that is unwound at the end of the test."""
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def nowhere(children: ExitStack) -> str:
    """Return the URL of a dashboard that does not exist, so that raydap uses no other cluster of this machine."""
    holder = children.enter_context(socket.socket())
    holder.bind(("127.0.0.1", 0))
    return f"http://127.0.0.1:{holder.getsockname()[1]}"


@pytest.fixture
def connect_to(children: ExitStack) -> Callable[[str, int], Client]:
    """Return `connect_to(host, port)`, which returns a Client that is closed at the end of the test.

    All messages that it has received have to conform to the DAP schema.
    """

    def connect(host: str, port: int) -> Client:
        client = Client.connect(host, port)
        children.callback(validate_all, client)
        return children.enter_context(client)

    return connect


def validate_all(client: Client) -> None:
    for message in client.received:
        validate(message)
    assert [message["seq"] for message in client.received] == list(range(1, len(client.received) + 1))


@pytest.fixture
def bridge(children: ExitStack, tmp_path: Path) -> Bridge:
    """Return a separate bridge process. The test fails if it dies or prints a traceback."""
    # With -v, the report of a failed test contains the bridge's last steps.
    started = Bridge.start(tmp_path / "bridge.log", "-v")
    children.callback(started.end)
    return started


@pytest.fixture
def client(bridge: Bridge, connect_to: Callable[[str, int], Client]) -> Client:
    """Return a client of the bridge, before `initialize`."""
    return connect_to(bridge.host, bridge.port)


@pytest.fixture
def plain_debugpy(children: ExitStack, tmp_path: Path) -> Callable[..., Debuggee]:
    """Return `plain_debugpy(source)`. It starts a program without Ray that waits for a client before its first line."""

    def start(source: str, packages: Path | None = None) -> Debuggee:
        debuggee = Debuggee.start(source, tmp_path, packages)
        children.push(debuggee.child)
        return debuggee

    return start


@pytest.fixture
def run_program(children: ExitStack, tmp_path: Path) -> Callable[..., Child]:
    """Return `run_program(program, *args, env=, python=, cwd=)`, where `program` is a file (Path) or source (str)."""

    def run(
        program: Path | str,
        *args: str,
        env: dict[str, str] | None = None,
        python: str = sys.executable,
        cwd: Path | None = None,
    ) -> Child:
        number = len(list(tmp_path.glob("program*.log")))
        if isinstance(program, str):
            path = tmp_path / f"program{number}.py"
            path.write_text(program)
        else:
            path = program
        log = tmp_path / f"program{number}.log"
        return children.enter_context(Child([python, str(path), *args], log, env, cwd))

    return run


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Yield a head node on loopback with 8 nominal CPUs, one for each process that runs tests with Ray.

    Tests request 0.1 CPU for each actor or task.
    """
    with pytest.MonkeyPatch.context() as patch:
        # Ray's dashboard leaves a temporary folder behind.
        patch.setenv("TMPDIR", str(tmp_path_factory.mktemp("ray")))
        started = Cluster(num_cpus=8)
    with started:
        yield started


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    """Return a self-signed certificate for 127.0.0.1 and localhost."""
    return Certificate.make(tmp_path_factory.mktemp("certificate"))


@pytest.fixture(scope="session", params=["newest", OLDEST_DEBUGPY])
def packages(request: pytest.FixtureRequest) -> Path | None:
    """Return the folder of another debugpy, or None for the one of this environment.

    The oldest debugpy is tested only with --oldest-debugpy.
    """
    return None if request.param == "newest" else old_debugpy.folder(request.param)
