"""The transcripts of the page about the terminal are what a user sees."""

from local_cluster import Cluster

from support import transcripts


def test_the_page_shows_what_the_commands_print(cluster: Cluster) -> None:
    assert transcripts.make(cluster) == transcripts.on_page(), "`make transcripts` renews the page"
