"""polars has a `map_batches`, too, which runs where the frame is."""

import polars as pl
import ray
import ray.data


def clip(frame):
    return frame


def normalize(series):
    return series


def load(path):
    frames = pl.scan_parquet(path)
    frames = frames.map_batches(clip)
    return frames.group_by("key").map_groups(clip).with_columns(pl.col("x").map_batches(normalize))


ds = ray.data.from_pandas(load("rows").collect().to_pandas())
