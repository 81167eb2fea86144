"""An estimator that evaluates a policy on recorded episodes, and keeps the dataset in one variable after another."""

from ray.data import Dataset


class Normalizer:
    def __init__(self, mean):
        self.mean = mean

    def __call__(self, frame):  # runs in: data
        return frame - self.mean


def weights(frame, policy_state):  # runs in: data
    return frame.assign(weight=likelihood(frame, policy_state))


def likelihood(frame, policy_state):  # runs in: data
    return frame["new"] / frame["old"]


class Estimator:
    def estimate(self, dataset: Dataset, batch_size: int):
        updated = dataset.map_batches(weights, batch_size=batch_size, fn_kwargs={"policy_state": self.state()})
        updated = updated.map_batches(Normalizer(updated.mean("weight")), batch_format="pandas")
        values = updated.map_batches(self.values, batch_size=batch_size)
        return values.mean("value"), values.std("value")

    def values(self, frame):  # runs in: data
        return frame.assign(value=frame["weight"] * frame["reward"])

    def state(self):
        return {}
