"""What clusters of tests start without: processes that raydap does not use and that cost a tenth of a test run."""

from importlib.metadata import distribution
from pathlib import Path

_COMMAND = Path(str(distribution("ray").locate_file("ray/scripts/scripts.py"))).read_text(encoding="utf-8")

NODE = ["--include-log-monitor=false"] if "--include-log-monitor" in _COMMAND else []
"""Options of `ray start`. Old versions of Ray always copy what workers print to their drivers."""

HEAD = [*NODE, "--no-monitor"]
"""Those of a head, which has an autoscaler otherwise."""
