"""Which tests run in the same one of pytest-xdist's workers."""

from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

WITH_RAY = ("tests/ray/", "tests/vscode/")


class RayInOneWorker(LoadScopeScheduling):
    """All tests with Ray go to one worker, each other test to the next worker that is free.

    Each folder with Ray shares a cluster. Besides, raydap takes the newest cluster of the machine for the one that a
    launched program started, so no other test may start one meanwhile.

    The option `--dist=loadgroup` has no effect with pytest 9.2.
    """

    def _split_scope(self, nodeid: str) -> str:
        return "with Ray" if nodeid.startswith(WITH_RAY) else nodeid

    def mark_test_complete(self, node: WorkerController, item_index: int, duration: float = 0) -> None:
        """Forget a scope when all its tests are complete.

        After each test, pytest-xdist looks for pending tests in all scopes that a worker has ever had.
        """
        super().mark_test_complete(node, item_index, duration)
        scope = self._split_scope(self.registered_collections[node][item_index])
        if all(self.assigned_work[node][scope].values()):
            del self.assigned_work[node][scope]
