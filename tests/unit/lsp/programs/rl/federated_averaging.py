"""The parameter server of Ray's own examples, with models that are broadcast."""

import numpy as np
import ray


@ray.remote
class Server:
    def __init__(self, size):  # runs in: actor
        self.weights = np.zeros(size)

    def apply(self, *gradients):  # runs in: actor
        self.weights -= self._mean(gradients)
        return self.weights

    def _mean(self, gradients):  # runs in: actor
        return np.stack(gradients).sum(axis=0)


@ray.remote
class DataWorker:
    def gradients(self, weights):  # runs in: actor
        return gradient(weights)


@ray.remote
def evaluate(weights):  # runs in: task
    return float(weights.sum())


def gradient(weights):  # runs in: actor
    return weights


ray.init(ignore_reinit_error=True)
server = Server.remote(10)
workers = [DataWorker.remote() for _ in range(2)]
weights = server.apply.remote(np.zeros(10))
for step in range(20):
    weights = server.apply.remote(*[worker.gradients.remote(weights) for worker in workers])
    if step % 10 == 0:
        print(ray.get(evaluate.remote(weights)))
ray.shutdown()
