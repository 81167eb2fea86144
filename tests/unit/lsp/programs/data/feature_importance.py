"""The importance of features: each one is shuffled in its turn."""

import ray
import ray.data


def actions(batch, key):  # runs in: data
    batch[key] = policy(batch["obs"])
    return batch


def policy(obs):  # runs in: data
    return obs


def difference(batch):  # runs in: data
    batch["delta"] = batch["after"] - batch["before"]
    return batch


def importance(ds: ray.data.Dataset, features):
    shuffled = ds.map_batches(shuffle, fn_kwargs={"feature": 0})
    after = shuffled.map_batches(actions, fn_kwargs={"key": "after"})
    deltas = after.map_batches(difference, batch_format="pandas")
    return deltas.mean("delta")


def shuffle(batch, feature):  # runs in: data
    return batch


@ray.remote
def importance_of(ds, feature):  # runs in: task
    shuffled = ds.map_batches(shuffle, fn_kwargs={"feature": feature})
    return shuffled.mean("delta")


def main():
    ds = ray.data.read_parquet("episodes")
    ds = ds.map_batches(actions, fn_kwargs={"key": "before"})
    return ray.get([importance_of.remote(ds, feature) for feature in range(3)])
