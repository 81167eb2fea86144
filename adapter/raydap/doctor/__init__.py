"""The work of `raydap doctor`: inspect a cluster, and report what keeps debugging from working there."""
