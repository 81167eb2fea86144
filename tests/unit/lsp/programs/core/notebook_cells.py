# %%
import ray

ray.init()


# %%
@ray.remote
def simulate(seed):  # runs in: task
    return seed


# %%
refs = [simulate.remote(seed) for seed in range(4)]

# %%
simulate.remote(9)

# %%
import pdb

results = ray.get(refs)
if not results:
    pdb.pm()

# %%
answer = input("Next? ")
