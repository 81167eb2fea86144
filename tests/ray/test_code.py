"""The places of the code: working_dir and path mappings, justMyCode, a local launch and a launch as a job."""

import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from dap_client import Client
from local_cluster import Child, Cluster

from support.look import attach_to, bodies, frames, go_on, line_of, local_variables, name_of, problems, user_frames

MODULE = """\
def half(number):
    result = number / 2
    return result
"""

DRIVER = """\
import sys
import ray
import halving

@ray.remote(num_cpus=0.1)
def work(number):
    print("said by the task")
    breakpoint()
    return halving.half(number)

ray.init()
print("to stderr", file=sys.stderr, flush=True)
print("result: " + str(ray.get(work.remote(42))))
sys.exit(int(sys.argv[1]))
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a folder with a driver and a module, as a user has it."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "driver.py").write_text(DRIVER)
    (folder / "halving.py").write_text(MODULE)
    return folder


def output(client: Client, category: str) -> str:
    return "".join(body["output"] for body in bodies(client, "output") if body.get("category") == category)


def run_from_a_copy(project: Path) -> None:
    """Give the driver's workers a working_dir, from which they import the module. The task's code is the driver's."""
    (project / "driver.py").write_text(
        DRIVER.replace("ray.init()", 'ray.init(runtime_env={"working_dir": "."})')
        .replace("import halving\n", "")
        .replace("    return halving", "    import halving\n    return halving")
    )


def walk_through(client: Client, project: Path) -> None:
    """Continue through the job's two stops: its own breakpoint(), and one set in the user's copy of the module."""
    stop = client.wait_event("stopped")
    assert user_frames(client, stop)[0]["source"]["path"] == str(project / "driver.py")
    assert local_variables(client, stop)["number"] == "42"
    assert name_of(client, stop, "work")
    go_on(client, stop)
    stop = client.wait_event("stopped")
    frame = user_frames(client, stop)[0]
    assert frame["source"]["path"] == str(project / "halving.py")
    assert (frame["name"], frame["line"]) == ("half", line_of(MODULE, "return"))
    assert local_variables(client, stop)["result"] == "21.0"
    go_on(client, stop)


@pytest.mark.parametrize("by_itself", [True, False])
def test_launch_as_a_job_with_working_dir(client: Client, cluster: Cluster, project: Path, by_itself: bool) -> None:
    """The workers run a copy of the code. It is mapped automatically, or by the remoteRoot ".", the copy's folder."""
    arguments = {
        "dashboard": cluster.dashboard,
        "submit": True,
        "program": "driver.py",
        "python": sys.executable,  # The plain `python` of a job depends on the PATH with which the cluster was started.
        "args": ["7"],
        "cwd": str(project),
        "pathMappings": [] if by_itself else [{"localRoot": str(project), "remoteRoot": "."}],
    }
    breakpoints = {str(project / "halving.py"): [line_of(MODULE, "return")]}
    client.timeout = 60
    client.start_session("launch", arguments, breakpoints=breakpoints, supportsInvalidatedEvent=True)
    walk_through(client, project)
    assert client.wait_event("exited") == {"exitCode": 7}
    assert client.wait_event("terminated") == {}
    assert "result: 21.0\n" in output(client, "stdout")


def test_a_workspace_and_its_package_are_the_same_files(
    client: Client, cluster: Cluster, run_driver: Callable[..., Child], project: Path
) -> None:
    """The task is pickled with the driver's path, but the module comes from the package: one worker has both roots."""
    run_from_a_copy(project)
    attach_to(client, cluster, workspaceFolder=str(project))
    answer = client.request(
        "setBreakpoints",
        source={"path": str(project / "halving.py")},
        breakpoints=[{"line": line_of(MODULE, "return")}],
    )
    (breakpoint,) = answer["breakpoints"]
    driver = run_driver(project / "driver.py", "0", cwd=project)
    walk_through(client, project)
    verified = client.wait_event("breakpoint", lambda body: body["breakpoint"]["verified"])["breakpoint"]
    assert (verified["id"], verified["source"]["path"]) == (breakpoint["id"], str(project / "halving.py"))
    hits = [body.get("hitBreakpointIds") for body in bodies(client, "stopped")]
    assert hits == [None, [breakpoint["id"]]]
    assert driver.wait() == 0, driver.output


def as_wheel(module: Path) -> Path:
    """Write a wheel of a folder with code, as `pip wheel` builds it, and return its path."""
    path = module.parent / "dist" / "shop-1.0-py3-none-any.whl"
    path.parent.mkdir()
    files = {f"shop/{file.name}": file.read_text() for file in module.glob("*.py")}
    files["shop-1.0.dist-info/METADATA"] = "Metadata-Version: 2.1\nName: shop\nVersion: 1.0\n"
    files["shop-1.0.dist-info/WHEEL"] = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files["shop-1.0.dist-info/RECORD"] = "".join(f"{name},,\n" for name in files)
    with zipfile.ZipFile(path, "w") as wheel:
        for name, text in files.items():
            wheel.writestr(name, text)
    return path


@pytest.mark.parametrize("is_wheel", [False, True])
def test_a_breakpoint_in_a_module_of_py_modules(
    client: Client, cluster: Cluster, run_driver: Callable[..., Child], tmp_path: Path, is_wheel: bool
) -> None:
    """The workspace is above the folder that has the module, as in a repository with libraries."""
    module = tmp_path / "repo" / "libs" / "shop"
    module.mkdir(parents=True)
    for name, text in (("__init__.py", ""), ("prices.py", MODULE)):
        (module / name).write_text(text)
    driver = (
        DRIVER.replace("import halving\n", "")
        .replace("    return halving", "    import shop.prices\n    return shop.prices")
        .replace(
            "ray.init()", f"ray.init(runtime_env={{'py_modules': [{str(as_wheel(module) if is_wheel else module)!r}]}})"
        )
    )
    path = str(module / "prices.py")
    client.timeout = 90
    attach_to(client, cluster, workspaceFolder=str(tmp_path / "repo"))
    client.request("setBreakpoints", source={"path": path}, breakpoints=[{"line": line_of(MODULE, "return")}])
    job = run_driver(driver, "0")
    go_on(client, client.wait_event("stopped"))
    stop = client.wait_event("stopped")
    frame = user_frames(client, stop)[0]
    assert (frame["name"], frame["source"]["path"]) == ("half", path)
    assert local_variables(client, stop)["result"] == "21.0"
    assert stop["hitBreakpointIds"]
    assert problems(client) == []
    go_on(client, stop)
    assert job.wait() == 0, job.output


def test_a_breakpoint_that_cannot_hit_in_the_jobs_copy_is_not_verified_and_the_argument_is_named(
    client: Client, cluster: Cluster, run_driver: Callable[..., Child], project: Path
) -> None:
    run_from_a_copy(project)
    attach_to(client, cluster)
    lines = [{"line": line_of(MODULE, "return")}]
    client.request("setBreakpoints", source={"path": str(project / "halving.py")}, breakpoints=lines)
    driver = run_driver(project / "driver.py", "0", cwd=project)
    told = client.wait_event("breakpoint", lambda body: "copy" in body["breakpoint"].get("message", ""))["breakpoint"]
    assert told["verified"] is False
    assert f'"workspaceFolder": "{project}"' in told["message"]
    go_on(client, client.wait_event("stopped"))
    assert driver.wait() == 0, driver.output
    assert [text for text in problems(client) if "3007" in text] == [
        "The job runs a copy of your folder, so breakpoints in yours may not hit; "
        f'set "workspaceFolder" to "{project}". [raydap 3007]'
    ]


def test_launch_here(client: Client, cluster: Cluster, project: Path) -> None:
    arguments = {
        "dashboard": cluster.dashboard,
        "program": "driver.py",
        "args": ["0"],
        "cwd": str(project),
        "env": {"RAY_ADDRESS": cluster.address, "PYTHONPATH": str(project)},
    }
    breakpoints = {str(project / "halving.py"): [line_of(MODULE, "return")]}
    client.start_session("launch", arguments, breakpoints=breakpoints, supportsInvalidatedEvent=True)
    # Ray sends a worker's output to the driver, so the worker's debugger must not send it, too.
    client.wait_event("output", lambda body: "said by the task" in body["output"])
    walk_through(client, project)
    assert client.wait_event("exited") == {"exitCode": 0}
    assert "result: 21.0\n" in output(client, "stdout")
    assert "to stderr\n" in output(client, "stderr")
    assert sum(body["output"].count("said by the task") for body in bodies(client, "output")) == 1


@pytest.mark.core
@pytest.mark.parametrize("just_my_code", [True, False])
def test_just_my_code_loses_no_stop(
    client: Client, cluster: Cluster, run_driver: Callable[..., Child], project: Path, just_my_code: bool
) -> None:
    """With debugpy's own default, Ray's breakpoint is lost on Python 3.10 and 3.11."""
    attach_to(client, cluster, justMyCode=just_my_code)
    driver = run_driver(project / "driver.py", "0", env={"PYTHONPATH": str(project)})
    stop = client.wait_event("stopped")
    mine = user_frames(client, stop)
    assert [frame["name"] for frame in mine][:1] == ["work"]
    plumbing = [frame for frame in frames(client, stop) if "/ray/_private/" in frame["source"]["path"]]
    assert all(frame["presentationHint"] == "subtle" for frame in plumbing)
    assert bool(plumbing) is not just_my_code
    # A step at the end of the task does not stop in Ray.
    client.request("next", threadId=stop["threadId"])
    stop = client.wait_event("stopped")
    assert user_frames(client, stop)[0]["name"] == "work"
    go_on(client, stop)
    assert driver.wait() == 0, driver.output
    assert "result: 21.0" in driver.output
