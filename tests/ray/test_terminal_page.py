"""The transcripts of the page about the terminal, and the recording of the first page, match what a user sees."""

from collections.abc import Iterator
from difflib import unified_diff
from itertools import chain

import pytest
from local_cluster import Cluster

from support import terminal_film, transcripts


@pytest.fixture(scope="module")
def new_cluster() -> Iterator[Cluster]:
    """Return a new cluster, because the shared one may still list a driver of another test."""
    with Cluster(num_cpus=8) as cluster:
        yield cluster


def test_the_page_shows_what_the_commands_print(new_cluster: Cluster) -> None:
    made = transcripts.make(new_cluster)
    page = transcripts.on_page()
    assert made.keys() == page.keys()
    blocks = [unified_diff(page[name].splitlines(), made[name].splitlines(), name, lineterm="") for name in page]
    difference = "\n".join(chain.from_iterable(blocks))
    assert not difference, f"`make transcripts` renews the page:\n{difference}"


def test_the_recording_shows_what_the_commands_print(new_cluster: Cluster) -> None:
    made = terminal_film.lines(terminal_film.picture(terminal_film.record(new_cluster)))
    shown = terminal_film.lines(terminal_film.PICTURE.read_text(encoding="utf-8"))
    assert made ^ shown == set(), "`make transcripts` renews the recording"
