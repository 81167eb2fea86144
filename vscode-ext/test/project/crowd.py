import ray


@ray.remote
def work(turn):
    breakpoint()
    return turn
