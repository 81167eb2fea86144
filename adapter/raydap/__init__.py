"""raydap: one debug session for a whole Ray cluster, over the Debug Adapter Protocol."""

__version__ = "0.1.0"
