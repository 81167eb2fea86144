"""Another local user attacks every file, folder and socket that raydap makes or reads in a shared folder."""

import os
import socket
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest

from support.other_users import ATTACKER, acting_as, needs_root, not_forever
from users.user_files import FORGED, HUB, REFUSALS, SECRET, TABLE, Place, Row

pytestmark = needs_root

NAMED = [row for row in TABLE if row.path()]
IN_FOLDERS = [row for row in NAMED if "/" in row.path()]


def ids(row: object) -> str | None:
    return row.name if isinstance(row, Row) else None


def put_link(path: Path, row: Row, place: Place) -> None:
    path.symlink_to(place.treasure)


def put_dangling_link(path: Path, row: Row, place: Place) -> None:
    path.symlink_to(place.home / "new")


def put_pipe(path: Path, row: Row, place: Place) -> None:
    os.mkfifo(path)
    path.chmod(0o666)


def put_folder(path: Path, row: Row, place: Place) -> None:
    path.mkdir()
    path.chmod(0o777)


def put_file(path: Path, row: Row, place: Place) -> None:
    path.write_bytes(row.forged)
    path.chmod(0o666)


def put_unreadable_file(path: Path, row: Row, place: Place) -> None:
    path.write_bytes(row.forged)
    path.chmod(0o600)


def bind_early(path: Path, row: Row, place: Place) -> None:
    with socket.socket(socket.AF_UNIX) as early:
        early.bind(str(path))
    path.chmod(0o777)


PUT = (put_link, put_dangling_link, put_pipe, put_folder, put_file, put_unreadable_file, bind_early)


@pytest.mark.parametrize("row", TABLE, ids=ids)
def test_it_works_where_no_other_user_can_write(row: Row, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(place.home))
    with acting_as(place.victim), not_forever():
        if row.needs:
            (place.home / row.path()).write_bytes(msgspec.json.encode(HUB))
            (place.home / row.path()).chmod(0o600)
        row.use(place.home, place.home)


def use(row: Row, place: Place) -> object:
    """Use it as the victim; return what raydap believes, or None if raydap refuses it."""
    with acting_as(place.victim), not_forever():
        try:
            return row.use(place.shared, place.home)
        except REFUSALS:
            return None


def check(row: Row, place: Place, believed: object) -> None:
    """Check that the attacker has neither read nor changed anything."""
    place.check_treasure()
    assert row.is_named or FORGED not in str(believed)
    with acting_as(ATTACKER):
        assert not [path for path in (place.shared, place.lair) for path in path.rglob("*") if holds_secret(path)]


def holds_secret(path: Path) -> bool:
    with suppress(OSError):
        return path.is_file() and SECRET in path.read_text(errors="replace")
    return False


def path_of(row: Row, place: Place) -> Path:
    with acting_as(place.victim):
        return place.shared / row.path()


@pytest.mark.parametrize("put", PUT)
@pytest.mark.parametrize("row", NAMED, ids=ids)
def test_what_another_user_puts_there_first(row: Row, put: Callable[[Path, Row, Place], None], place: Place) -> None:
    path = path_of(row, place)
    with acting_as(ATTACKER):
        for folder in reversed(path.relative_to(place.shared).parents[:-1]):
            (place.shared / folder).mkdir()
            (place.shared / folder).chmod(0o777)
        put(path, row, place)
    check(row, place, use(row, place))


@pytest.mark.parametrize("target", ["theirs", "mine"])
@pytest.mark.parametrize("row", IN_FOLDERS, ids=ids)
def test_a_link_in_place_of_its_folder(row: Row, target: str, place: Place) -> None:
    """The link leads to a folder of the attacker with a forged file, or to a folder of the victim."""
    path = path_of(row, place)
    first, *rest = path.relative_to(place.shared).parts
    with acting_as(ATTACKER):
        place.lair.joinpath(*rest).parent.mkdir(parents=True, exist_ok=True)
        place.lair.joinpath(*rest).write_bytes(row.forged)
        (place.shared / first).symlink_to(place.lair if target == "theirs" else place.home)
    believed = use(row, place)
    check(row, place, believed)
    assert not (place.home / "debug-history").exists()


@pytest.mark.parametrize("row", TABLE, ids=ids)
def test_what_is_there_is_renamed_and_replaced(row: Row, place: Place) -> None:
    use(row, place)
    path = path_of(row, place)
    with acting_as(ATTACKER):
        for entry in list(place.shared.iterdir()):
            with suppress(OSError):
                entry.rename(f"{entry}.away")  # Only its owner can move a folder into another one.
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(row.forged)
    check(row, place, use(row, place))


@pytest.mark.parametrize("name", ["files of an agent", "folder of a job", "folder of a driver"])
def test_code_and_private_folders_are_not_where_others_can_rename(name: str, place: Place) -> None:
    """Each folder is made where the attacker can neither rename it nor connect to a socket in it."""
    (row,) = (row for row in TABLE if row.name == name)
    renamed: list[str] = []
    make = os.mkdir

    def watched(path: str, *arguments: object, **options: object) -> None:
        make(path, *arguments, **options)  # type: ignore[arg-type]
        with acting_as(ATTACKER), suppress(OSError):
            os.rename(path, f"{path}.away")
            renamed.append(path)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "mkdir", watched)
        use(row, place)
    assert renamed == []
