"""Data-parallel training with torch, as the examples of Ray Train do it."""

import argparse

import ray.train
import torch
from ray.train import Checkpoint, RunConfig, ScalingConfig
from ray.train.torch import TorchTrainer, prepare_model


class Net(torch.nn.Module):
    def forward(self, x):
        return x


def train_epoch(loader, model, optimizer):  # runs in: train
    for batch in loader:
        optimizer.zero_grad()
        model(batch).sum().backward()
        optimizer.step()


def validate(loader, model):  # runs in: train
    with torch.no_grad():
        return sum(model(batch).sum() for batch in loader)


def loaders(size):  # runs in: train
    return [], []


def train_func(config):  # runs in: train
    def learning_rate(step):  # runs in: train
        return config["lr"] / (step + 1)

    train, test = loaders(config["batch_size"])
    model = prepare_model(Net())
    optimizer = torch.optim.SGD(model.parameters(), lr=learning_rate(0))
    for _ in range(config["epochs"]):
        train_epoch(train, model, optimizer)
        ray.train.report({"loss": validate(test, model)}, checkpoint=Checkpoint.from_directory("last"))


def plot(result):
    print(result.metrics)


def main(arguments):
    trainer = TorchTrainer(
        train_loop_per_worker=train_func,
        train_loop_config={"lr": 0.1, "batch_size": 8, "epochs": arguments.epochs},
        scaling_config=ScalingConfig(num_workers=2, use_gpu=False),
        run_config=RunConfig(name="ddp"),
    )
    plot(trainer.fit())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    main(parser.parse_args())
