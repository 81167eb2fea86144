"""Settings with which Ray's own processes cost less, without a difference for programs."""

from pathlib import Path

LIGHT = {
    # Workers that Ray starts in advance are of no use to programs with a runtime_env. Each test is a new job.
    "RAY_prestart_worker_first_driver": "0",
    "RAY_enable_worker_prestart": "0",
    # Ray lists the logs of all workers, also of those that have ended, ten times a second, and twice a second if there
    # are more than the first number. It reads them as often until it has opened as many as the second
    # (ray/_private/log_monitor.py).
    "RAY_LOG_MONITOR_MANY_FILES_THRESHOLD": "0",
    "RAY_LOG_MONITOR_MAX_OPEN_FILES": "40",
    # Milliseconds between two reports of what the node's processes use.
    "REPORTER_UPDATE_INTERVAL_MS": "60000",
    # No test looks at Ray's metrics. The dashboard would record its own every five seconds.
    "RAY_enable_metrics_collection": "0",
    "METRICS_RECORD_INTERVAL_S": "60",
    # No test fills the memory, which the raylet looks at four times a second.
    "RAY_memory_monitor_refresh_ms": "0",
    # Ray's file imports Ray once more for each worker with a runtime_env (docs/examples/local_cluster.py, RAY).
    "RAYDAP_SETUP_WORKER": str(Path(__file__).with_name("light_setup_worker.py")),
}
"""For the environment of the tests, and so of each node that a test or its program starts."""
