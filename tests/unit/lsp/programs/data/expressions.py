"""A function of expressions, and a choice between two functions."""

import ray
from ray.data.expressions import col, udf


@udf(return_dtype=float)
def scaled(values):  # runs in: data
    return values


def fast(batch):  # runs in: data
    return batch


def exact(batch):  # runs in: data
    return batch


def main(is_fast):
    ds = ray.data.range(10).with_column("scaled", scaled(col("id")))
    ds = ds.map_batches(fast if is_fast else exact)
    return ds.add_column("two", lambda frame: frame["id"] * 2).materialize()  # runs in: data
