"""A dataset class whose methods give their own inner functions to its method `map_batches`, like Ray's `Dataset`."""

import ray.data.block


class Table:
    def __init__(self, plan):
        self._plan = plan

    def map_batches(self, fn, **options):
        return Table(self._plan.then(fn, options))

    def groupby(self, key):
        return Groups(self, key)

    def with_column(self, name, value):
        def set_column(batch):  # runs in: data
            batch[name] = value(batch)
            return batch

        return self.map_batches(set_column, batch_format="pandas")

    def without_columns(self, names):
        def drop(batch):  # runs in: data
            return batch.drop(names)

        return self.map_batches(drop, zero_copy_batch=True)

    def sample(self, fraction, seed):
        def keep_some(batch, seed):  # runs in: data
            return choose(batch, fraction, seed)

        return self.map_batches(keep_some, fn_args=(seed,), batch_size=None)

    def split_by(self, column, size):
        if column is None:

            def assign(batch):  # runs in: data
                return batch.append_column("part", random_parts(len(batch), size))

            parts = self.map_batches(assign, batch_format="pyarrow")
        else:

            def assign_by_hash(batch):  # runs in: data
                def bucket(key):  # runs in: data
                    return hash(key) % size

                return batch.append_column("part", [bucket(key) for key in batch[column]])

            parts = self.map_batches(assign_by_hash, batch_format="pyarrow")
        return parts

    def stratified(self, key, size):
        table = self.sample(1.0, 0)

        def mark_rows(group):  # runs in: data
            group["is_train"] = [index > size for index in range(len(group))]
            return group

        return table.groupby(key).map_groups(mark_rows)


class Groups:
    def __init__(self, table, key):
        self._table, self._key = table, key

    def map_groups(self, fn, **options):
        return self._table.map_batches(fn, **options)

    def with_column(self, name, expression):
        def project(group):  # runs in: data
            return ray.data.block.evaluate(group, name, expression)

        return self.map_groups(project, batch_format=None)
