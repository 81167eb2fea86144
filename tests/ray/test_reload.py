"""New code without a restart: actors keep their state, and workers that start later run the new code, too."""

from pathlib import Path
from typing import Any

from dap_client import Client
from local_cluster import Cluster

from support import launched
from support.look import bodies, go_on, local_variables, user_frames

MODULE = """\
import ray

class Trainer:
    def __init__(self):
        self.steps = 0

    def step(self):
        self.steps += 1
        return f"old {self.steps}"

@ray.remote(num_cpus=0.1)
class Decorated(Trainer):
    def step(self):
        self.steps += 1
        return f"old decorated {self.steps}"

def unused():
    return 0
"""

NEW_MODULE = MODULE.replace(
    """\
        return f"old {self.steps}"
""",
    """\
        new = self.name("new")
        return f"{new} {self.steps}"  # new line

    def name(self, text):
        return text
""",
).replace("old decorated", "new decorated")

DRIVER = """\
import sys
import time
from pathlib import Path
import ray
import model

@ray.remote(num_cpus=0.1)
def task(number):
    return f"old task {number}"

def show(name, steps, task):
    # One text, so that it is one piece of the output.
    print(f"{name} {ray.get(steps)} {ray.get(task)}", flush=True)

def main():
    ray.init(runtime_env={"working_dir": "."})
    trainer = ray.remote(num_cpus=0.1)(model.Trainer)
    actors = [trainer.remote(), trainer.remote(), model.Decorated.remote()]
    show("before", [each.step.remote() for each in actors], task.remote(1))
    while not Path(sys.argv[1]).exists():
        time.sleep(0.05)
    show("after", [each.step.remote() for each in actors], task.remote(2))
    own = {"env_vars": {"LATER": "1"}}
    later = [trainer.options(runtime_env=own).remote(), model.Decorated.options(runtime_env=own).remote()]
    show("later", [each.step.remote() for each in later], task.options(runtime_env=own).remote(3))

main()
"""


class Program:
    """A launched program whose workers run a copy of its folder."""

    def __init__(self, client: Client, cluster: Cluster, tmp_path: Path, *texts: str) -> None:
        self.client = client
        self.folder = tmp_path / "project"
        self.go = tmp_path / "go"
        self.folder.mkdir()
        self.module = self.folder / "model.py"
        self.module.write_text(MODULE)
        client.timeout = 60
        launched.start(
            client, cluster, self.folder, DRIVER, *texts, args=[str(self.go)], workspaceFolder=str(self.folder)
        )
        self.wait_for("before ['old 1', 'old 1', 'old decorated 1'] old task 1\n")

    def wait_for(self, text: str) -> None:
        self.client.wait_event("output", lambda body: text in body["output"])

    def reload(self, path: Path, text: str) -> dict[str, Any]:
        path.write_text(text)
        answer: dict[str, Any] = self.client.request("raydap/reload", path=str(path), text=text)
        return answer

    def set_line(self, path: Path, *texts: str) -> None:
        lines = [{"line": launched.line_of(path.read_text(), text)} for text in texts]
        self.client.request("setBreakpoints", source={"path": str(path)}, breakpoints=lines)


def names(parts: list[dict[str, Any]]) -> dict[str, int]:
    return {each["name"]: len(each["workers"]) for each in parts}


def test_workers_without_a_debugger(client: Client, cluster: Cluster, tmp_path: Path) -> None:
    program = Program(client, cluster, tmp_path)
    answer = program.reload(program.module, NEW_MODULE)
    # The driver has the module, too.
    assert (names(answer["changed"]), names(answer["added"]), answer["kept"], answer["unreached"]) == (
        {"Trainer.step": 4, "Decorated.step": 4},
        {"Trainer.name": 4},
        [],
        [],
    )
    driver = program.folder / "program.py"
    answer = program.reload(driver, DRIVER.replace("old task", "new task"))
    assert names(answer["changed"]) == {"task": 2}
    program.go.touch()
    program.wait_for("after ['new 2', 'new 2', 'new decorated 2'] new task 2\n")
    program.wait_for("later ['new 1', 'new decorated 1'] new task 3\n")
    launched.ended(client)


def test_a_breakpoint_in_the_new_code_of_actors(client: Client, cluster: Cluster, tmp_path: Path) -> None:
    program = Program(client, cluster, tmp_path)
    program.set_line(program.module, "return 0")
    program.reload(program.module, NEW_MODULE)
    program.set_line(program.module, "# new line")
    program.go.touch()
    for _ in range(3):
        stop = client.wait_event("stopped")
        frame = user_frames(client, stop)[0]
        assert frame["source"]["path"] == str(program.module)
        assert launched.stopped_line(client, stop).endswith("# new line")
        assert local_variables(client, stop)["new"] == "'new'"
        go_on(client, stop)
    program.wait_for("later ['new 1', 'new decorated 1'] old task 3\n")
    launched.ended(client)
    output = [body["output"] for body in bodies(client, "output") if body.get("category") == "console"]
    assert any("new code for 3 names in" in each for each in output), output
