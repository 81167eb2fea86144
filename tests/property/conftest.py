from collections.abc import Iterator

import pytest

from raydap.core import flows


@pytest.fixture(autouse=True, scope="module")
def small_parts() -> Iterator[None]:
    """Divide long work into parts of one worker (model/parts.py), because the sessions have few workers."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(flows, "PART", 1)
        yield
