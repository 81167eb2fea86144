"""A deployment for a language model with batches, and a proxy before it."""

import asyncio

import fastapi
from ray import serve
from ray.serve.handle import DeploymentHandle

app = fastapi.FastAPI()


@serve.deployment(num_replicas=2, ray_actor_options={"num_gpus": 1}, health_check_period_s=10)
class Generator:
    def __init__(self, name):  # runs in: serve
        self.model = self._load(name)

    def _load(self, name):  # runs in: serve
        return name

    @serve.batch(max_batch_size=8)
    async def generate(self, prompts):  # runs in: serve
        return [decode(prompt) for prompt in prompts]

    def check_health(self):  # runs in: serve
        if self.model is None:
            raise RuntimeError

    def reconfigure(self, config):  # runs in: serve
        self.temperature = config["temperature"]


def decode(prompt):  # runs in: serve
    return prompt


@serve.deployment
@serve.ingress(app)
class Proxy:
    def __init__(self, generator: DeploymentHandle):  # runs in: serve
        self.generator = generator

    @app.post("/generate")
    async def generate(self, prompt: str):  # runs in: serve
        return await asyncio.wait_for(self.generator.generate.remote(prompt), 30)


def build(arguments):
    return Proxy.bind(Generator.bind(arguments.get("model", "small")))


async def ask(handle):
    return await handle.generate.remote("x")


if __name__ == "__main__":
    handle = serve.run(build({}), blocking=False)
    print(handle.generate.remote("Hello").result(timeout_s=30))
    while input("Again? "):
        asyncio.run(ask(handle))
