"""A preprocessor that chooses one of its methods by the type of the data."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ray.data import Dataset


class Scaler:
    def fit(self, ds: "Dataset"):
        self.mean = ds.mean("x")
        return self

    def transform(self, ds: "Dataset") -> "Dataset":
        if self.wants_pandas():
            return ds.map_batches(self._transform_pandas, batch_format="pandas")
        return ds.map_batches(self._transform_numpy, batch_format="numpy")

    def wants_pandas(self):
        return hasattr(self, "_transform_pandas")

    def _transform_pandas(self, frame):  # runs in: data
        frame["x"] = self._scaled(frame["x"])
        return frame

    def _transform_numpy(self, batch):  # runs in: data
        batch["x"] = self._scaled(batch["x"])
        return batch

    def _scaled(self, values):  # runs in: data
        return values - self.mean
