"""The transcripts of the page about the terminal match what a user sees."""

from difflib import unified_diff
from itertools import chain

from local_cluster import Cluster

from support import transcripts


def test_the_page_shows_what_the_commands_print() -> None:
    # This is a new cluster, because the shared one may still list a driver of another test.
    with Cluster(num_cpus=8) as cluster:
        made = transcripts.make(cluster)
    page = transcripts.on_page()
    assert made.keys() == page.keys()
    blocks = [unified_diff(page[name].splitlines(), made[name].splitlines(), name, lineterm="") for name in page]
    difference = "\n".join(chain.from_iterable(blocks))
    assert not difference, f"`make transcripts` renews the page:\n{difference}"
