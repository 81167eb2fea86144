"""Fine-tuning a language model with an accelerator library inside the training loop."""

import os

from ray.train import RunConfig, ScalingConfig
from ray.train.torch import TorchTrainer


def collate(tokenizer):  # runs in: train
    def pad(batch):  # runs in: train
        return tokenizer(batch, padding=True)

    return pad


def loop(config):  # runs in: train
    from accelerate import Accelerator
    from transformers import AutoModelForCausalLM, AutoTokenizer

    os.environ["OMP_NUM_THREADS"] = "4"
    accelerator = Accelerator()
    tokenizer = AutoTokenizer.from_pretrained(config["model"])
    model = accelerator.prepare(AutoModelForCausalLM.from_pretrained(config["model"]))
    for batch in batches(config, collate(tokenizer)):
        accelerator.backward(model(**batch).loss)


def batches(config, function):  # runs in: train
    yield from ()


def ask(question):
    return input(question) or "small"


if __name__ == "__main__":
    model = ask("Which model? ")
    environment = {"env_vars": {"HF_HOME": "/models", "RAY_AIR_LOCAL_CACHE_DIR": "/cache", "NCCL_DEBUG": "INFO"}}
    trainer = TorchTrainer(
        loop,
        train_loop_config={"model": model},
        scaling_config=ScalingConfig(num_workers=8, use_gpu=True),
        run_config=RunConfig(worker_runtime_env=environment),
    )
    trainer.fit()
