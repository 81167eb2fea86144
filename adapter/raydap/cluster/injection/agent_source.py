"""The text that starts an agent in a worker that runs already; it travels by value (inworker/injected_agent.py)."""

from importlib import resources

from raydap.inworker.agent_code import AGENT_FILES, child_settings


def injected(worker_id: str, children: bool) -> str:
    """A program that sets `problem` to "" or to the reason why no agent starts. `worker_id` is Ray's hex id of the
    worker that is meant. `children`: its subprocesses have agents, too."""
    folder = resources.files("raydap.inworker")
    names = child_settings(str(folder), children)
    texts = [folder.joinpath(name).read_text(encoding="utf-8") for name in AGENT_FILES]
    code = [folder.joinpath(name).read_text(encoding="utf-8") for name in ("worker_setup.py", "injected_agent.py")]
    return "\n".join([*code, f"problem = start_injected_agent({texts!r}, {names!r}, {worker_id!r})\n"])
