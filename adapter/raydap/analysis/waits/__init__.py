"""Who waits for whom: the graph of a hanging program, from what workers and Ray have said (raydap/waits)."""
