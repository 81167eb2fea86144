"""Rewards that tasks compute, with their sources in the same file."""

import re
from collections import defaultdict

import ray


def exact_match(answer, truth):  # runs in: task
    return float(normalize(answer) == normalize(truth))


def normalize(text):  # runs in: task
    return re.sub(r"\s+", " ", text).strip()


def length_penalty(answer):
    return len(answer) / 100


@ray.remote(num_cpus=1)
def score(answers, truths, function=None):  # runs in: task
    if function is None:
        return [exact_match(answer, truth) for answer, truth in zip(answers, truths, strict=True)]
    return list(map(function, answers, truths))


class RewardManager:
    def __init__(self, config):
        self.sources = defaultdict(list)
        self.penalty = length_penalty if config.penalty else None

    def __call__(self, batch):
        reference = score.remote(batch.answers, batch.truths)
        scores = ray.get(reference)
        if self.penalty is not None:
            scores = [value - self.penalty(answer) for value, answer in zip(scores, batch.answers, strict=True)]
        return scores
