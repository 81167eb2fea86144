"""A pipeline of one's own that runs in the driver, beside Ray Data."""

import ray.data


class Pipeline:
    def __init__(self, batches):
        self.batches = batches

    def map_batches(self, function):
        self.batches = [function(batch) for batch in self.batches]
        return self


def double(batch):
    return batch * 2


def show(pipeline: Pipeline):
    pipeline.map_batches(double)
    Pipeline([]).map_batches(double)


ds = ray.data.range(3)
local = Pipeline(list(ds.iter_batches()))
local.map_batches(double)
