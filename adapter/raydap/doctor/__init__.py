"""`raydap doctor`: looks at a cluster, and says what keeps debugging from working there."""
