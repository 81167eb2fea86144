"""One Ray cluster for all that is seen in VS Code. RAYDAP_WITHOUT_VSCODE=1 leaves all of it out."""

from collections.abc import Iterator

import pytest
from local_cluster import Cluster

from support import vscode

collect_ignore = ["test_extension.py"] if vscode.LEFT_OUT else []


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with pytest.MonkeyPatch.context() as patch:
        # Ray's dashboard leaves a temporary folder behind.
        patch.setenv("TMPDIR", str(tmp_path_factory.mktemp("ray")))
        started = Cluster()
    with started:
        yield started
