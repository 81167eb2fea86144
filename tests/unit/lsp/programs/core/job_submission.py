"""A program that submits jobs and waits for them, with environment variables for them."""

import os
import pdb
import time

from ray.job_submission import JobStatus, JobSubmissionClient


def wait(client, job):
    while client.get_job_status(job) not in (JobStatus.SUCCEEDED, JobStatus.FAILED):
        time.sleep(1)


def main():
    os.environ.setdefault("RAY_ADDRESS", "http://127.0.0.1:8265")
    client = JobSubmissionClient()
    variables = {"RAY_DEBUG": "1", "RAY_DEDUP_LOGS": "0", "RAY_BACKEND_LOG_LEVEL": "debug", "NCCL_DEBUG": "WARN"}
    job = client.submit_job(entrypoint="python train.py", runtime_env={"working_dir": ".", "env_vars": variables})
    try:
        wait(client, job)
    except KeyboardInterrupt:
        client.stop_job(job)
        pdb.post_mortem()
    if input("Delete the job? ") == "y":
        client.delete_job(job)


if __name__ == "__main__":
    main()
