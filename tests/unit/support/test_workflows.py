"""The workflows of GitHub: pinned actions, least rights, and the versions that raydap supports."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_has_no_rights_and_each_job_names_its_own(path: Path) -> None:
    top, jobs = path.read_text(encoding="utf-8").split("\njobs:\n")
    assert "\npermissions: {}\n" in top
    for job in re.split(r"^  (?=\w)", jobs, flags=re.MULTILINE)[1:]:
        assert "\n    permissions:\n" in job, job.splitlines()[0]


def test_each_action_is_pinned_to_one_commit_and_names_its_version() -> None:
    used = [line for path in WORKFLOWS for line in re.findall(r"uses: (.+)", path.read_text(encoding="utf-8"))]
    assert [line for line in used if not re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line)] == []
    names = [line.partition("@")[0] for line in set(used)]
    assert sorted(names) == sorted(set(names)), "the same action is pinned to two commits"


def test_only_jobs_that_build_nothing_can_publish() -> None:
    """A job with the identity of a publisher must not run code of the repository or of its dependencies."""
    _, jobs = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8").split("\njobs:\n")
    for job in re.split(r"^  (?=\w)", jobs, flags=re.MULTILINE)[1:]:
        assert not ("make " in job and re.search(r": write\b", job)), job.splitlines()[0]


def test_every_python_of_the_classifiers_is_tested() -> None:
    classifiers = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    supported = re.findall(r'"Programming Language :: Python :: (3\.\d+)"', classifiers)
    workflow = (ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8")
    (tested,) = re.findall(r"^        python: \[(.+)\]$", workflow, re.MULTILINE)
    assert re.findall(r'"([\d.]+)"', tested) == supported
