"""The transcripts of the page about the terminal are what a user sees."""

from local_cluster import Cluster

from support import transcripts


def test_the_page_shows_what_the_commands_print() -> None:
    # On the cluster of the other tests a driver of theirs may still be listed.
    with Cluster(num_cpus=8) as cluster:
        assert transcripts.make(cluster) == transcripts.on_page(), "`make transcripts` renews the page"
