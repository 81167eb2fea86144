"""Batches of torch's DataLoader with workers."""

import torch
from torch.utils.data import DataLoader, Dataset, get_worker_info


class Numbers(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        assert get_worker_info() is not None
        return torch.tensor([index, index * index])


class Failing(Numbers):
    def __getitem__(self, index):
        raise ValueError(index)


if __name__ == "__main__":
    for method in ("fork", "spawn"):
        for batch in DataLoader(Numbers(), batch_size=4, num_workers=2, multiprocessing_context=method):
            print(batch.tolist())
        try:
            list(DataLoader(Failing(), num_workers=1, multiprocessing_context=method))
        except ValueError as error:
            print(str(error).splitlines()[0])
