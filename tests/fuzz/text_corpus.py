"""As corpus.py, for what users write: Python files, launch.json, and sets of workers."""

from fuzz.corpus import Pieces
from raydap.protocol.raydap_messages import StoppedThread, WorkerEntry

FILES = (
    b"""import ray, pdb, os
os.environ["RAY_DEBUGG"] = "1"
ray.init(local_mode=True)

@ray.remote
def train(batch, *rest, rate: float = 0.5):
    l\xc3\xb6ss = [batch * rate for _ in rest]  # raydap: ignore[local-mode]
    try:
        pdb.set_trace()
    except Exception:
        pass
    return f"{l\xc3\xb6ss}"

train.remote(1)
ray.get(train.remote(input()), timeout=3)
""",
    b"""from ray import serve
import ray.data

@serve.deployment
class Model:
    async def __call__(self, request):
        breakpoint()

ray.data.range(9).map_batches(lambda b: breakpoint() or b).take()
""",
    b'{"configurations": [{"type": "raydap", "env": {"RAY_DEBUG": "legacy", "RAY_DEBUGG": 1}}] /* x */}',
)
PYTHON: Pieces = (
    b"@ray.remote\n",
    b"import ray\n",
    b"breakpoint()",
    b"def f():\n",
    b"class A:\n",
    b"    ",
    b"\t",
    b"\\\n",
)
PYTHON += (
    b"try:\n",
    b"except:\n",
    b"lambda: ",
    b"(",
    b")",
    b"[",
    b'"""',
    b"'",
    b"f'{",
    b"# raydap: ignore",
    b"\x0c",
    b"\r",
)
PYTHON += (
    b"\xf0\x9f\x98\x80",
    b"\xff",
    b"\x00",
    b"\xef\xbb\xbf",
    b"(" * 300,
    b"x." * 300,
    b" if x else " * 300,
    b"\xe2\x80\xa8",
)

SETS = (
    b"actor:Rollout* node:10.0.0.* (state:stopped or not line:train.py:40-50,eval.py) rank:0,4-7 where x > 1",
    b'task:prepare pid:4711 job:01000000 error:ValueError set:some loader "a name: with spaces"',
)
SET_PIECES: Pieces = (
    b"not ",
    b" or ",
    b" and ",
    b" where ",
    b"(",
    b")",
    b'"',
    b":",
    b",",
    b"-",
    b"*",
    b"?",
    b"[",
    b"]",
    b"!",
)
SET_PIECES += (
    b"rank:",
    b"line:",
    b"set:loop",
    b"state:",
    b"9" * 400,
    b"\xff",
    b"\x00",
    b"\xd9\xa1",
    b"(" * 60,
    b"[!a-" * 20,
)
STOPPED = WorkerEntry(
    key="w1",
    name="A \u00b7 step \u00b7 4711",
    label="A \u00b7 step",
    where="4711",
    state="stopped",
    age=0.0,
    type="worker",
    pid=4711,
    node="10.0.0.1",
    node_id="ab" * 28,
    job="01000000",
    submission="",
    actor="A",
    actor_name="a_1",
    task="A.step",
    agent=True,
    threads=(StoppedThread(1, "", "exception", "mine.ValueError", 0, ""),),
    problem="",
)
