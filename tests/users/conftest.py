"""The folders of two users of one machine."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from support.other_users import ATTACKER, VICTIMS, acting_as
from users.user_files import Place


@pytest.fixture(params=VICTIMS, ids=["root", "user"])
def victim(request: pytest.FixtureRequest) -> int:
    """Return the uid of raydap's user, root or an ordinary one."""
    uid: int = request.param
    return uid


@pytest.fixture(params=[0o1777, 0o777], ids=["sticky", "open"])
def place(request: pytest.FixtureRequest, victim: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """Yield folders whose shared one is sticky, as /tmp is, or lets all users rename all, as a Ray session's does."""
    with tempfile.TemporaryDirectory(prefix="raydap-test-", dir="/tmp") as name:
        os.chmod(name, 0o755)
        found = Place(Path(name, "shared"), Path(name, "home"), Path(name, "lair"), victim)
        for folder, owner, mode in ((found.shared, 0, 0), (found.home, victim, 0o700), (found.lair, ATTACKER, 0o777)):
            folder.mkdir()
            os.chown(folder, owner, owner)
            folder.chmod(mode or request.param)
        with acting_as(victim):
            found.make_treasure()
        monkeypatch.setattr(tempfile, "tempdir", str(found.shared))
        yield found
    with suppress(OSError):  # If no other folder is safe, the runtime folder is in /tmp.
        os.rmdir(f"/tmp/raydap-{victim}")
