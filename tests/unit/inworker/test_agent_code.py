"""The files that an agent consists of."""

import ast
from importlib import resources

from raydap.inworker.agent_code import AGENT_FILES


def test_the_files_of_an_agent_share_no_name_by_mistake() -> None:
    seen: dict[str, str] = {}
    for file in AGENT_FILES:
        for node in ast.parse(resources.files("raydap.inworker").joinpath(file).read_text("utf-8")).body:
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", node)]
            for name in {getattr(each, "id", getattr(each, "name", "")) for each in targets} - {""}:
                assert seen.setdefault(name, file) == file, f"{name} is in {seen[name]} and in {file}"
