"""Runs a command with a Ray cluster of its own: RAY_ADDRESS, RAYDAP_TEST_DASHBOARD and RAYDAP_TEST_PYTHON say where.

    python on_cluster.py node --test out/workbench/*.drive.js

Exits with the command's code; the cluster is ended in any case.
"""

import signal
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "docs" / "examples"))
from local_cluster import Cluster, clean_environment


def main() -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with Cluster(num_cpus=4) as cluster:
        where = {
            "RAY_ADDRESS": cluster.address,
            "RAYDAP_TEST_DASHBOARD": cluster.dashboard,
            "RAYDAP_TEST_PYTHON": sys.executable,
        }
        return subprocess.run(sys.argv[1:], env=clean_environment(where)).returncode


if __name__ == "__main__":
    sys.exit(main())
