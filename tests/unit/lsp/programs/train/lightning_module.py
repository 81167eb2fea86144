"""A Lightning module inside a training loop, and callbacks of the driver."""

import lightning
import ray
from ray.train.lightning import RayDDPStrategy, RayTrainReportCallback
from ray.train.torch import TorchTrainer
from ray.tune import Callback


class Classifier(lightning.LightningModule):
    def training_step(self, batch, index):
        return self(batch).loss

    def configure_optimizers(self):
        return None


class Progress(Callback):
    def on_trial_result(self, iteration, trials, trial, result, **info):
        print(result)


def train_loop(config):  # runs in: train
    trainer = lightning.Trainer(strategy=RayDDPStrategy(), callbacks=[RayTrainReportCallback()])
    trainer.fit(Classifier())


def best(grid):
    return max(grid, key=lambda result: result.metrics["accuracy"])


ray.init(runtime_env={"working_dir": ".", "env_vars": {"TOKENIZERS_PARALLELISM": "false"}})
TorchTrainer(train_loop, run_config=ray.train.RunConfig(callbacks=[Progress()])).fit()
