"""Functions that run where batches are consumed, which is the driver here."""

import ray


def collate(batch):
    return batch


def callback(progress):
    print(progress)


def scale(batch):  # runs in: data
    return batch


ds = ray.data.range(100).map_batches(scale)
for batch in ds.iter_torch_batches(collate_fn=collate, batch_size=8):
    callback(len(batch))
list(map(callback, ds.take(3)))
sorted(ds.take_all(), key=lambda row: row["id"])
