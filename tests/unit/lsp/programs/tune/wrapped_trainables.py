"""Trainables that are wrapped, chosen and registered."""

from ray import tune
from ray.tune import Trainable, register_trainable
from ray.tune.schedulers import ASHAScheduler


def objective(config):  # runs in: tune
    for step in range(config["steps"]):
        tune.report({"loss": loss(step, config["width"])})


def loss(step, width):  # runs in: tune
    return width / (step + 1)


def objective_with_data(config, data=None):  # runs in: tune
    return {"loss": sum(data)}


def cross_validation(config):  # runs in: tune
    return {"loss": 0}


class Counter(Trainable):
    def setup(self, config):  # runs in: tune
        self.count = 0

    def step(self):  # runs in: tune
        self.count += self.increment()
        return {"count": self.count}

    def increment(self):  # runs in: tune
        return 1


class Stopper(tune.Stopper):
    def __call__(self, trial_id, result):
        return result["loss"] < 0.1

    def stop_all(self):
        return False


def name_of(trial):
    return f"trial-{trial.trial_id}"


def search(use_cv):
    data = list(range(100))
    trainable = tune.with_resources(tune.with_parameters(objective_with_data, data=data), {"cpu": 1})
    scheduler = ASHAScheduler(metric="loss", mode="min")
    tune.Tuner(trainable, tune_config=tune.TuneConfig(scheduler=scheduler, trial_dirname_creator=name_of)).fit()
    tune.Tuner(tune.with_resources(objective if not use_cv else cross_validation, {"cpu": 1})).fit()
    register_trainable("counter", Counter)
    tune.run("counter", stop=Stopper(), config={"steps": tune.sample_from(lambda spec: 3)})
