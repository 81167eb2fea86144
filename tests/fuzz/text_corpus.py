"""Like corpus.py, for what users write: Python files, launch.json, sets of workers, and what they type."""

from fuzz.corpus import Pieces
from raydap.cli.main import COMMANDS as CLI_COMMANDS
from raydap.protocol.raydap_messages import StoppedThread, WorkerEntry
from raydap.terminal.debugger.command_table import BY_NAME

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
COMMANDS = (
    b"""p self.rank
[all] p x is 1
[actor:Trainer not rank:0 where x[0] > 1] n
[0-1] total = 3
n = 3
""",
    b"""w
up 2
list 1, 4
b 4, rank > 1
""",
    b"""b step
tbreak train.py:5
condition 1 x
break
c
""",
    b"""clear 1 2
[0] for x in y:\r    print(x)\r
""",
    b"""focus not 0
until 5
jump 5
display loss
pp {1: [2]}
""",
    b"""whatis x
compare self.loss
undisplay
""",
    b"""stacks rank:0-1
workers actor:Trainer
wait rank:1 2.5s
""",
    b"""pause 0,2
attach all
detach 1
""",
    b"""barrier 5 all 3 60s
barrier show
pdb 1
help until
/sets
!c = 1
focus
ll
args
s
r
q
""",
)
COMMAND_PIECES: Pieces = tuple(f"{name} ".encode() for name in BY_NAME)
COMMAND_PIECES += (b"[", b"]", b"[all] ", b"[0,2-4]", b"[where ", b"!", b"/", b"'", b'"', b"(", b"~\x00", b"~/", b":1")
COMMAND_PIECES += (b"\n", b"\r", b"\xff", b"\x00", b"\x1b[31m", b"\xd9\xa1", b"9" * 400, b"9" * 4400, b"-" * 4000)
COMMAND_PIECES += (b"x." * 1500, b"(" * 300, b"\xe8\xa8\x93", b" not in ", b" = ", b" < ", b"lambda:")

WORDS = (
    b"ps\nactor:Rollout* state:paused\n--watch\n--json\n-a",
    b"eval\nself.step\nrank:0\n--timeout\n2.5\n--dashboard\nhttp://127.0.0.1:8265",
    b"stacks\n--svg\nx.svg\n--folded\n--connect\nws://127.0.0.1:4711/dap\n--token-file\nnone",
    b"debug\n-m\ntrain\n--lr\n0.1",
    b"report\n--break-at\ntrain.py:42 if loss > 10\n--trace-at\ntrain.py:42\nloss\n--every\n5m\n--job\n02000000",
    b"serve\n--listen\n127.0.0.1:0\n--hold\n600\n--relay\nnever\n--token-sha256\nab\n--once\n--tls-cert\nx",
    b"up\n--listen\n[::1]:0\n--hold\nforever\n--no-pip\n--replace\n--python\npython3",
    b"doctor\n--break\ntrain.py:42\n--no-nodes\n-v",
    b"run\n--wait\n--python\npython3\ntrain.py\n--help",
    b"connect\ntcps://h:1\n--tls-ca\nx",
    b"adapter\n--listen\n127.0.0.1:5678\n--log-file\nnone/x\n-v",
    b"--version",
)
WORD_PIECES: Pieces = tuple(f"{name}\n".encode() for name in CLI_COMMANDS)
WORD_PIECES += (
    b"\n",
    b"--",
    b"-",
    b"--help",
    b"--json\n",
    b"--listen=",
    b"--hold=",
    b"--break=",
    b"--every=",
    b"--job=",
)
WORD_PIECES += (b"--timeout=", b"--timeout=nan", b"--connect=", b"--break-at=", b"--trace-at\n", b"--reach=", b"-vwam")
WORD_PIECES += (b":0", b":65536", b"[::1]", b"\xff", b"\xd9\xa1", b"9" * 400, b"9" * 4400, b"", b"\xe8\xa8\x93", b"~x/")
WORD_PIECES += (b"(" * 300, b"ws://", b"http://[", b"%", b"{", b"$HOME", b"if ", b"1e999", b"-1", b"@", b"\x1b[31m")

STOPPED = WorkerEntry(
    key="w1",
    name="A \u00b7 step \u00b7 4711",
    title="A 1",
    label="A 1 \u00b7 step",
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
    rank=1,
)
