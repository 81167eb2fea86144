"""Preprocessing as a course teaches it: helpers without annotations, and a class that keeps what it has learnt."""

import ray


def tokenize(batch):  # runs in: data
    return {"ids": [encode(text) for text in batch["text"]]}


def encode(text):  # runs in: data
    return [ord(letter) for letter in text]


def clean(frame, stop_words):  # runs in: data
    frame["text"] = frame.text.str.lower()
    return frame


def load(path, limit=None):
    ds = ray.data.read_csv(path)
    ds = ds.random_shuffle(seed=1)
    return ray.data.from_items(ds.take(limit)) if limit else ds


def split(ds, share):
    def mark(frame):  # runs in: data
        frame["part"] = "train"
        return frame

    def only(frame, part):  # runs in: data
        return frame[frame.part == part]

    marked = ds.groupby("label").map_groups(mark, batch_format="pandas")
    return marked.map_batches(only, fn_kwargs={"part": "train"}), marked.map_batches(only, fn_kwargs={"part": "test"})


class Preprocessor:
    def fit(self, ds):
        self.classes = ds.unique("label")
        return self

    def transform(self, ds):
        return ds.map_batches(clean, fn_kwargs={"stop_words": ()}, batch_format="pandas").map_batches(tokenize)
