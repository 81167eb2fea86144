"""Offline inference with a pool of actors."""

import functools

import ray


class Predictor:
    def __init__(self, checkpoint):  # runs in: data
        self.model = self.load(checkpoint)

    def load(self, checkpoint):  # runs in: data
        return lambda batch: batch  # runs in: data

    def __call__(self, batch):  # runs in: data
        batch["label"] = self.model(batch["image"])
        return batch


def crop(row, size):  # runs in: data
    row["image"] = row["image"][:size]
    return row


def read() -> ray.data.Dataset:
    return ray.data.read_images("images")


def is_large(row):  # runs in: data
    return row["image"].size > 100


def parts(row):  # runs in: data
    return [row, row]


def write(results):
    for row in results:
        print(row)


if __name__ == "__main__":
    images = read()
    cropped = images.map(functools.partial(crop, size=224)).filter(fn=is_large).flat_map(parts)
    predicted = cropped.map_batches(Predictor, fn_constructor_args=("last",), concurrency=(1, 4), num_gpus=1)
    write(predicted.iter_rows())
