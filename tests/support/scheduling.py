"""Which tests run in the same one of pytest-xdist's workers."""

from xdist.scheduler import LoadScopeScheduling

WITH_RAY = ("tests/ray/", "tests/vscode/")


class RayInOneWorker(LoadScopeScheduling):
    """All tests with Ray go to one worker, each other test to the next worker that is free.

    Each folder with Ray shares a cluster. Besides, raydap takes the newest cluster of the machine for the one that a
    launched program started, so no other test may start one meanwhile.

    The option `--dist=loadgroup` has no effect with pytest 9.2.
    """

    def _split_scope(self, nodeid: str) -> str:
        return "with Ray" if nodeid.startswith(WITH_RAY) else nodeid
