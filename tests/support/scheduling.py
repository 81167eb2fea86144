"""The distribution of tests to the workers of pytest-xdist, and their order."""

import random

import pytest
from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

LONGEST_FIRST = (
    "vscode",
    "ray",
    "editors",
    "lsp",
    "cpython_tests",
    "e2e",
    "inworker",
    "hub",
    "fuzz",
    "property",
    "playbook",
    "unit",
)
"""The folders of tests, longest tests first: with the short ones at the end, all workers end at about the same time."""

BY_FILE = ("tests/vscode/", "tests/ray/", "tests/playbook/", "tests/unit/")
"""The folders where all tests of a file run in one worker, because they share fixtures or take milliseconds.

In tests/vscode each test uses a processor fully. Each test of another folder goes to the next worker that is free.
"""


class FilesAndTests(LoadScopeScheduling):
    """A scheduler that keeps the tests of some files in one worker.

    The option `--dist=loadgroup` would do so, but it has no effect with pytest 9.2.
    """

    def _split_scope(self, nodeid: str) -> str:
        return nodeid.partition("::")[0] if nodeid.startswith(BY_FILE) else nodeid

    def mark_test_complete(self, node: WorkerController, item_index: int, duration: float = 0) -> None:
        """Forget a scope when all its tests are complete.

        After each test, pytest-xdist looks for pending tests in all scopes that a worker has ever had.
        """
        super().mark_test_complete(node, item_index, duration)
        scope = self._split_scope(self.registered_collections[node][item_index])
        if all(self.assigned_work[node][scope].values()):
            del self.assigned_work[node][scope]


def sort(items: list[pytest.Item]) -> None:
    """Put the folders in the order LONGEST_FIRST; the others come first."""
    items.sort(key=lambda item: _rank(item.nodeid))


def shuffle(items: list[pytest.Item], seed: int) -> None:
    """Put the files in a random order, and the tests of each file.

    All workers have to use the same seed.
    """
    order = random.Random(seed)
    files: dict[str, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.nodeid.partition("::")[0], []).append(item)
    groups = list(files.values())
    order.shuffle(groups)
    for group in groups:
        order.shuffle(group)
    items[:] = [item for group in groups for item in group]


def _rank(nodeid: str) -> int:
    folder = nodeid.split("/")[1] if nodeid.count("/") > 1 else ""
    return LONGEST_FIRST.index(folder) if folder in LONGEST_FIRST else -1
