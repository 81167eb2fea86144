"""An async actor: two calls share one event loop, and each stops after its await."""

import asyncio

import ray


@ray.remote(num_cpus=0.1)
class Server:
    def __init__(self) -> None:
        self.both_here = asyncio.Barrier(2) if hasattr(asyncio, "Barrier") else None

    async def answer(self, question: int) -> int:
        if self.both_here is not None:  # Python 3.10 has no Barrier, so there the calls may run one after the other.
            await self.both_here.wait()
        answer = question + 40
        breakpoint()
        return answer


if __name__ == "__main__":
    ray.init()
    server = Server.remote()
    print(f"result: {ray.get([server.answer.remote(question) for question in (1, 2)])}")
