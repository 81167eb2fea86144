"""Programs in which the rules of the language server find nothing. They begin with the head of rule_programs."""

NOT_FOUND = {
    "a driver": "def main():\n    pdb.set_trace()\n    input()\nmain()",
    "a class that is no actor": "class A:\n    def m(self): pdb.set_trace()",
    "a function of one's own": "def input(): pass\n@ray.remote\ndef f():\n    input()",
    "a parameter": "@ray.remote\ndef f(input):\n    input()",
    "another remote": "def remote(f): return f\n@remote\ndef f():\n    pdb.set_trace()",
    "a list's map": "def f(x): pdb.set_trace()\nclass L:\n    def map(self, f): pass\nL().map(f)",
    "an actor's breakpoint": "@ray.remote\nclass A:\n    def m(self): breakpoint()\nray.get(A.remote().m.remote())",
    "Ray's own debugger": "import ray.util.pdb\n@ray.remote\ndef f(): ray.util.pdb.set_trace()\nray.get(f.remote())",
    "good variables": (
        'os.environ["RAY_DEBUG_POST_MORTEM"] = "1"\nos.environ["RAY_DEBUG"] = "0"\n'
        'os.environ["RAY_DEDUP_LOGS"] = "0"\nos.environ["RAY_DEBUG_BUILD"] = "x"\n'
        'ray.init(runtime_env={"env_vars": {"RAY_DEBUG": "1", "OTHER": "true"}})'
    ),
    "a map of another parameter": "def f(x): pdb.set_trace()\ndef main(ds: list):\n    ds.map(f)",
    "a map of what was a dataset": "def f(x): pdb.set_trace()\nds = ray.data.range(3)\nds = load(ds)\nds.map(f)",
    "a map of nothing known": "def f(x): pdb.set_trace()\nds = ds.map(f)\nother = ds\nds = other.map(f)",
    "a property that returns a class": (
        "class A:\n    @property\n    def kind(self): pdb.set_trace()\n"
        "    def start(self): return ray.remote(self.kind).remote()"
    ),
    "a method of another object": "class A:\n    def m(self, b): pdb.set_trace()\nray.data.range(3).map(B().m)",
    "a debugger with a terminal": "@ray.remote\ndef f():\n    pdb.Pdb(stdin=x, stdout=y).set_trace()",
    "limits at unknown positions": (
        "@ray.remote\ndef f(): breakpoint()\nasync def main(x):\n    await asyncio.wait_for(*x, 5)"
    ),
    "variables of another program": 'docker = dict(env_vars={"RAY_DEBUG_LEVEL": "3"})',
    "a value that is computed": 'os.environ["RAY_DEBUG"] = str(int(True))',
    "a variable in another function": 'def a(): ray.init()\ndef b():\n    os.environ["RAY_DEBUG"] = "1"',
    "a variable after a shutdown": 'ray.init()\nray.shutdown()\nos.environ["RAY_DEBUG"] = "1"\nray.init()',
    "a variable in another branch": (
        'if x:\n    ray.init()\nelse:\n    os.environ["RAY_DEBUG"] = "1"\n    ray.init(address="auto")'
    ),
    "a variable in another case": (
        'match x:\n    case 1: ray.init()\n    case _:\n        os.environ["RAY_DEBUG"] = "1"\n        ray.init()'
    ),
    "a variable after a branch that may end": (
        'def main():\n    if x:\n        ray.init()\n        return\n    os.environ["RAY_DEBUG"] = "1"\n    ray.init()'
    ),
    "a variable when ray.init has failed": (
        'try: ray.init(address="auto")\nexcept ConnectionError:\n    os.environ["RAY_DEBUG"] = "1"\n    ray.init()'
    ),
    "a variable after a with": 'with ray.init():\n    pass\nos.environ["RAY_DEBUG"] = "1"',
    "an awaited result": "@ray.remote\ndef f():\n    breakpoint()\nref = f.remote()\nray.get(ref)",
    "a script that waits": "import time\n@ray.remote\ndef f():\n    breakpoint()\nf.remote()\ntime.sleep(100)",
    "a loop": "@ray.remote\ndef f():\n    breakpoint()\nf.remote()\nwhile True: pass",
    "a helper above that waits after a dropped task": (
        "import time\ndef wait():\n    time.sleep(9)\n@ray.remote\ndef f():\n    breakpoint()\nf.remote()\nwait()"
    ),
    "a helper of a helper that waits after a dropped task": (
        "import time\ndef wait():\n    time.sleep(9)\ndef other():\n    wait()\n"
        "@ray.remote\ndef f():\n    breakpoint()\nf.remote()\nother()"
    ),
    "a training after a dropped task": (
        "@ray.remote\ndef f():\n    breakpoint()\nf.remote()\nTorchTrainer(print).fit()"
    ),
    "a tuner after a dropped task": ("@ray.remote\ndef f():\n    breakpoint()\nf.remote()\ntune.Tuner(print).fit()"),
    "an algorithm after a dropped task": (
        "from ray.rllib.algorithms.ppo import PPOConfig\n"
        "@ray.remote\ndef f():\n    breakpoint()\nf.remote()\n"
        "algo = PPOConfig().build()\nfor _ in range(9):\n    algo.train()"
    ),
    "a server after a dropped task": (
        "from http.server import HTTPServer\n"
        "@ray.remote\ndef f():\n    breakpoint()\nf.remote()\nHTTPServer(('', 0), None).serve_forever()"
    ),
    "a server of grpc after a dropped task": (
        "import grpc\n@ray.remote\ndef f():\n    breakpoint()\nf.remote()\ngrpc.server(None).wait_for_termination()"
    ),
    "batches after a dropped task": (
        "@ray.remote\ndef f():\n    breakpoint()\nf.remote()\n"
        "for batch in ray.data.range(9).iter_batches():\n    print(batch)"
    ),
    "a loader after a dropped task": (
        "loader = load()\n@ray.remote\ndef f():\n    breakpoint()\nf.remote()\nfor batch in loader:\n    print(batch)"
    ),
    "a signal after a dropped task": (
        "import signal\n@ray.remote\ndef f():\n    breakpoint()\nf.remote()\nsignal.sigwait([signal.SIGINT])"
    ),
    "an import that runs a program after a dropped task": (
        "@ray.remote\ndef f():\n    breakpoint()\nf.remote()\nimport program"
    ),
    "a function with a decorator after a dropped task": (
        "import click\n@click.command()\ndef main(): pass\n@ray.remote\ndef f():\n    breakpoint()\nf.remote()\nmain()"
    ),
    "a lock after a dropped task": (
        "lock = make()\n@ray.remote\ndef f():\n    breakpoint()\nf.remote()\nwith lock:\n    pass"
    ),
    "a loop that waits before the next round": (
        "@ray.remote\ndef f():\n    breakpoint()\nfor i in range(3):\n    other(i)\n    f.remote()"
    ),
    "a thread that keeps the script alive": (
        "import threading\nthreading.Thread(target=serve.run).start()\n"
        "@ray.remote\ndef f():\n    breakpoint()\nf.remote()"
    ),
    "a cell of a notebook": "# %%\n@ray.remote\ndef f():\n    breakpoint()\n# %%\nf.remote()",
    "a main that waits": (
        "@ray.remote\ndef f():\n    breakpoint()\ndef main():\n    f.remote()\n    other()\n"
        "if __name__ == '__main__':\n    main()"
    ),
    "a module": "@ray.remote\ndef f():\n    breakpoint()\ndef start():\n    f.remote()",
    "a task without a breakpoint": "@ray.remote\ndef f(): pass\nf.remote()",
    "a limit without a breakpoint": "@ray.remote\ndef f(): pass\nray.get(f.remote(), timeout=5)",
    "a long limit": "@ray.remote\ndef f(): breakpoint()\nray.get(f.remote(), timeout=3600)",
    "a long limit in milliseconds": (
        "from ray.util.collective import init_collective_group\n@ray.remote\ndef f(): breakpoint()\n"
        "init_collective_group(2, 0, 'gloo', 'default', 3_600_000)"
    ),
    "no limit": "@ray.remote\ndef f(): breakpoint()\nray.get(f.remote(), timeout=None)",
    "a long health check": (
        "@serve.deployment(health_check_timeout_s=3600)\nclass D:\n    def check_health(self): pass\n"
        "    async def m(self):\n        breakpoint()"
    ),
    "options that are not known": "@serve.deployment(**options)\nasync def d(): breakpoint()",
    "a deployment without async": "@serve.deployment\nclass D:\n    def __call__(self, r):\n        breakpoint()",
    "a deployment without async that checks its health": (
        "@serve.deployment\nclass D:\n    def check_health(self): pass\n    def m(self):\n        breakpoint()"
    ),
    "a function without async in a deployment": (
        "@serve.deployment\nasync def d():\n    def g():\n        breakpoint()\n    await asyncio.to_thread(g)"
    ),
    "the beginning of a deployment": (
        "@serve.deployment\nclass D:\n    async def __init__(self):\n        breakpoint()"
    ),
    "a deployment without probes": (
        "@serve.deployment(ray_actor_options={'runtime_env': "
        "{'env_vars': {'RAY_SERVE_USER_HEALTH_CHECK_PROBE_MAX_FAIL': '0'}}})\nasync def d():\n    breakpoint()"
    ),
    "no local mode": "ray.init(local_mode=False)",
    "an error that is logged": (
        "@ray.remote\ndef f():\n    try: breakpoint()\n    except Exception as error: print(error)"
    ),
    "an error that is kept": (
        "@ray.remote\ndef f():\n    try: breakpoint()\n    except Exception as error: kept = error\n    return kept"
    ),
    "an error of one kind": "@ray.remote\ndef f():\n    try: breakpoint()\n    except KeyError: pass",
    "an except beside it": "@ray.remote\ndef f():\n    try: pass\n    except: breakpoint()",
    "an input that a pattern binds": (
        "@ray.remote\ndef f(x):\n    match x:\n        case [input, *rest]:\n            return input(rest)"
    ),
    "an input that a pattern binds to the rest": (
        "@ray.remote\ndef f(x):\n    match x:\n        case {'a': 1, **input}:\n            return input(1)"
    ),
    "an input that a pattern binds to a list": (
        "@ray.remote\ndef f(x):\n    match x:\n        case [1, *input]:\n            return input(1)"
    ),
    "an input that another function binds": (
        "def g():\n    global input\n    input = str\n@ray.remote\ndef f():\n    return input()"
    ),
    "an input that an inner function binds": (
        "@ray.remote\ndef f():\n    input = str\n    def g():\n        nonlocal input\n        input = int\n"
        "    return input()"
    ),
    "an input of a star import": "from mylib import *\n@ray.remote\ndef f():\n    return input()",
    "an input of another standard input": (
        "import io\n@ray.remote\ndef f():\n    sys.stdin = io.StringIO('y')\n    return input()"
    ),
    "a profiler of a module that a called function reads": (
        "import cProfile\nprofiler = cProfile.Profile()\ndef g():\n    profiler.enable()\n"
        "@ray.remote\ndef f():\n    g()"
    ),
    "a profiler of a module that a training loop reads": (
        "import cProfile\nprofiler = cProfile.Profile()\ndef g():\n    profiler.enable()\n"
        "def main():\n    TorchTrainer(g).fit()"
    ),
    "a profiler of a module that a base of an actor reads": (
        "import cProfile\nprofiler = cProfile.Profile()\nclass B:\n    def m(self):\n        profiler.enable()\n"
        "@ray.remote\nclass A(B): pass"
    ),
    "a debugger that is replaced": (
        "debugger = pdb.Pdb()\ndebugger = None\n@ray.remote\ndef f():\n    return debugger"
    ),
    "the type of an error": "kind = sys.exc_info()[0]\n@ray.remote\ndef f():\n    return kind",
    "an own debugger": "@ray.remote\ndef f():\n    debugger = pdb.Pdb()\n    debugger.do_where('')",
    "a parameter like a debugger": "debugger = pdb.Pdb()\n@ray.remote\ndef f(debugger):\n    debugger.do_where('')",
    "ignored": "@ray.remote\ndef f():\n    pdb.set_trace()  # raydap: ignore",
    "ignored by its code": (
        "@ray.remote\ndef f():\n    input()  # why  # raydap: ignore\n"
        "    input()  # raydap: ignore[local-mode, input-in-worker]"
    ),
}
