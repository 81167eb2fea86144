"""The transcripts of the page about the terminal are what a user sees."""

from pathlib import Path

from local_cluster import Cluster

from support import transcripts


def test_the_page_shows_what_the_commands_print(cluster: Cluster, tmp_path: Path) -> None:
    made = transcripts.Transcripts(cluster, tmp_path).make()
    assert made == transcripts.on_page(), "`make transcripts` renews the page"
