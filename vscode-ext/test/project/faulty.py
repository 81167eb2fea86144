import os
import pdb

import ray

os.environ["RAY_DEBUGG"] = "1"


@ray.remote
def train(step):
    pdb.set_trace()
    return step


if __name__ == "__main__":
    print(ray.get(train.remote(1)))
