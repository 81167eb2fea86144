"""Submits a job to Ray; an operation of raydap_process.py."""

import os
from typing import Any


def submit(question: dict[str, Any]) -> str:
    """Upload the working directory, submit the job and return its submission id.

    The question is `{"url": ..., "job": ...}`: the dashboard, and the arguments of JobSubmissionClient.submit_job.
    """
    url = question["url"]
    # Ray prefers these variables to the address that it is given. `requests` would use a proxy even for loopback.
    os.environ["RAY_API_SERVER_ADDRESS"] = os.environ["RAY_ADDRESS"] = url
    os.environ["NO_PROXY"] = os.environ["no_proxy"] = "*"
    from ray.job_submission import JobSubmissionClient

    return str(JobSubmissionClient(url).submit_job(**question["job"]))
