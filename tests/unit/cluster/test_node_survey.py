"""The report of a node, compared with processes of this machine. tests/ray runs the survey through Ray."""

import asyncio
import hashlib
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from raydap.cluster.survey import node_reports, node_survey
from raydap.cluster.survey.node_reports import FoundFile, NodeReport, PortReport, ProcessReport
from raydap.inworker import driver_setup
from raydap.runtime import prepared_environment
from support.agents import raydap_that_debugs_nothing

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="this system has no /proc")

NOBODY = "session_of_nobody"


def ask(*processes: dict[str, Any], files: dict[str, bytes] | None = None) -> NodeReport:
    asked = [{"path": path, "digest": hashlib.sha256(text).hexdigest()} for path, text in (files or {}).items()]
    question = {"host": "127.0.0.1", "processes": processes, "files": asked}
    reports, reasons = asyncio.run(node_reports.ask_here(NOBODY, {"n1": question}))
    assert reasons == {}
    return reports["n1"]


def here(port: int = 0) -> dict[str, Any]:
    return {"key": "w1", "pid": os.getpid(), "port": port}


def test_a_process_that_is_not_there_is_not_visible() -> None:
    child = subprocess.Popen([sys.executable, "-c", "pass"])
    child.wait()
    assert ask({"key": "w1", "pid": child.pid, "port": 0}).processes["w1"].visible is False


def test_variables_are_reported_without_secrets_and_irrelevant_values() -> None:
    environ = {
        "PATH": os.environ["PATH"],
        "RAY_DEBUG": "legacy",
        "RAY_DEBGU": "1",
        "RAY_AUTH_TOKEN": "s3cret",
        "RAY_DEBUG_API_KEY": "s3cret",
        "MY_DEBUG_URL": "postgres://me:s3cret@db",
        "UNRELATED": "s3cret",
        "TORCH_NCCL_ASYNC_ERROR_HANDLING": "0",
    }
    with subprocess.Popen([sys.executable, "-c", "input()"], env=environ, stdin=subprocess.PIPE) as child:
        variables = ask({"key": "w1", "pid": child.pid, "port": 0}).processes["w1"].variables
        child.kill()
    assert variables == {
        "RAY_DEBUG": "legacy",
        "RAY_DEBGU": "",
        "MY_DEBUG_URL": "",
        "TORCH_NCCL_ASYNC_ERROR_HANDLING": "0",
    }


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, ""),
        ({"PYTHONPATH": "/of/the/user"}, ""),
        ({**prepared_environment.driver({}), "RAYDAP": "off"}, "off"),
        ({**prepared_environment.driver({}), "RAYDAP": "on"}, "run"),
        (prepared_environment.driver({"PYTHONPATH": "/of/the/user"}, "", "/sockets", wait=True), "run"),
        (prepared_environment.driver({}, "/sockets/raydap", "/sockets"), "launched"),
        (prepared_environment.cluster({}), "cluster"),
        ({**prepared_environment.cluster({}), "PYTHONPATH": "/of/the/user"}, "hidden"),
        ({**prepared_environment.cluster({}), "PYTHONPATH": "/not/there/for_cluster"}, "hidden"),
        ({driver_setup.SETUP_HOOK_VARIABLE: "ray_runtime_env_func::7B7D"}, "hook"),
    ],
)
def test_why_a_process_has_an_agent_or_none(environ: dict[str, str], expected: str) -> None:
    with subprocess.Popen([sys.executable, "-S", "-c", "input()"], env=environ, stdin=subprocess.PIPE) as child:
        report = ask({"key": "w1", "pid": child.pid, "port": 0}).processes["w1"]
        child.kill()
    assert report.preparation == expected


def test_a_python_that_a_process_with_an_agent_starts_is_its_child(tmp_path: Path) -> None:
    started = "import os; print(os.getpid(), flush=True); input()"
    program = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {started!r}])"
    environ = {**os.environ, **prepared_environment.driver(os.environ, str(tmp_path / "raydap"), str(tmp_path))}
    with (
        raydap_that_debugs_nothing(str(tmp_path / "raydap")),
        subprocess.Popen(
            [sys.executable, "-c", program], env=environ, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as parent,
    ):
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        report = ask({"key": "w1", "pid": pid, "port": 0}).processes["w1"]
        parent.communicate("\n")
    assert report.preparation == "child"


@pytest.mark.parametrize("in_order", [list, lambda found: list(found)[::-1]], ids=["parent_first", "child_first"])
def test_peers_of_a_port_are_named_without_a_connection_to_it(
    in_order: Callable[[Iterable[Any]], list[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A child inherits its parent's sockets, and may have the lower pid."""
    found = node_survey._open_sockets
    monkeypatch.setattr(node_survey, "_open_sockets", lambda: in_order(found()))
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert ask(here(port)).processes["w1"].port == PortReport(True)
        server.setblocking(False)
        with pytest.raises(BlockingIOError):
            server.accept()
        with socket.create_connection(("127.0.0.1", port)) as connection:
            shared = (connection.fileno(),)
            with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, pass_fds=shared) as child:
                report = ask(here(port)).processes["w1"].port
                child.kill()
    assert report is not None
    (peer,) = report.peers
    assert (peer.host, peer.pid) == ("127.0.0.1", os.getpid())
    assert "python" in peer.command
    assert ask(here(port)).processes["w1"].port == PortReport(False)


def test_files_are_found_by_the_end_of_their_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = b"x = 1\n"
    for name in ("copy/pkg/train.py", "copy/train.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(text)
    monkeypatch.chdir(tmp_path / "copy")
    path = "/nowhere/project/pkg/train.py"
    report = ask(here(), files={path: text}).processes["w1"]
    assert report.files == {path: (FoundFile(str(tmp_path / "copy/pkg/train.py"), True),)}
    own = str(tmp_path / "copy/train.py")
    report = ask(here(), files={own: b"another"}).processes["w1"]
    assert report.files == {own: (FoundFile(own, False),)}


def test_a_library_needs_more_than_the_name_of_the_file() -> None:
    files = node_survey._Files(
        [{"path": "/nowhere/ray/util/debugpy.py", "digest": ""}, {"path": "/no/util.py", "digest": ""}]
    )
    folder = next(each for each in sys.path if (Path(each) / "ray" / "util" / "debugpy.py").exists())
    places = files.places([], [folder, str(Path(folder) / "ray")])
    assert [each["path"] for each in places["/nowhere/ray/util/debugpy.py"]] == [
        f"{folder}/ray/util/debugpy.py",
    ]
    assert places["/no/util.py"] == []


def test_a_python_reports_its_packages_or_the_reason_why_not() -> None:
    said = node_survey._ask_python(sys.executable, "")
    assert said["python"].startswith(f"{sys.version_info[0]}.{sys.version_info[1]}.")
    assert said["ray"]
    assert said["debugpy"]
    assert "problem" in node_survey._ask_python("/no/such/python", "")
    assert "problem" in node_survey._ask_python("/bin/false", "")


def test_an_activated_environment_is_the_process_own() -> None:
    pythons = node_survey._Pythons("/common/python", {"VIRTUAL_ENV": "/shell"})
    assert pythons.of({}) == "/common/python"
    assert pythons.of({"VIRTUAL_ENV": "/shell"}) == "/common/python"
    assert pythons.of({"VIRTUAL_ENV": "/own"}) == "/own/bin/python"
    assert pythons.of({"CONDA_PREFIX": "/conda"}) == "/conda/bin/python"
    assert pythons.known.keys() == {"/common/python", "/own/bin/python", "/conda/bin/python"}


def test_the_survey_listens_where_nothing_can_be_spoilt() -> None:
    survey = node_survey.RaydapSurvey()
    port = survey.listen("127.0.0.1")
    socket.create_connection(("127.0.0.1", port)).close()
    assert survey._listener is not None
    survey._listener.close()
    assert survey.listen("192.0.2.1") == 0
    assert survey.report({})["error"].startswith("KeyError")


def test_an_answer_that_cannot_be_read_is_a_reason() -> None:
    reports, reasons = node_reports._read({"n1": {"error": "gone"}, "n2": {"user": 1}})
    assert reports == {}
    assert reasons["n1"] == "gone"
    assert "cannot be read" in reasons["n2"]


def test_a_process_of_a_report_has_defaults_of_its_own() -> None:
    assert ProcessReport(False).variables is not ProcessReport(False).variables
