"""An experiment function that trains an algorithm of RLlib, with callbacks of its runners."""

from ray import tune
from ray.rllib.algorithms.ppo import PPOConfig


def experiment(config):  # runs in: tune
    algorithm = PPOConfig().update_from_dict(config).build()
    for _ in range(config["iterations"]):
        tune.report(filtered(algorithm.train()))
    algorithm.stop()


def filtered(result):  # runs in: tune
    return {key: value for key, value in result.items() if key != "config"}


def environment(config):
    return config["env"]


def on_episode_end(episode, **info):
    print(episode)


if __name__ == "__main__":
    config = PPOConfig().environment("CartPole-v1").env_runners(num_env_runners=1)
    tune.register_env("mine", environment)
    resources = PPOConfig.default_resource_request(config)
    tuner = tune.Tuner(tune.with_resources(experiment, resources=resources), param_space=config.to_dict())
    results = tuner.fit()
    print(results.get_best_result())
