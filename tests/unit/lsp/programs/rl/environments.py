"""Environments for agents: an interactive one with `input()` when its file is a program, and a remote pool of them."""

import random

import ray


class Maze:
    def reset(self, seed):
        random.seed(seed)
        return "S..G"

    def step(self, action):
        return "S..G", 0.0, action == "quit", {}

    def render(self):
        print("S..G")


@ray.remote(num_cpus=0.1)
class EnvironmentWorker:
    def __init__(self, make):  # runs in: actor
        self.environment = make()

    def step(self, action):  # runs in: actor
        observation, reward, is_done, info = self.environment.step(action)
        return observation, shaped(reward), is_done, info


def shaped(reward):  # runs in: actor
    return max(reward, -1.0)


class Pool:
    def __init__(self, count):
        self.workers = [EnvironmentWorker.remote(Maze) for _ in range(count)]

    def step(self, actions):
        return ray.get([worker.step.remote(action) for worker, action in zip(self.workers, actions, strict=True)])

    def map(self, function):
        return list(map(function, self.workers))


if __name__ == "__main__":
    maze = Maze()
    print(maze.reset(0))
    while True:
        keyboard = input("Action: ")
        if keyboard == "quit":
            break
        maze.step(keyboard)
        maze.render()
