"""Programs in which the rules of the language server find something, or nothing."""

HEAD = """\
import asyncio, datetime, os, pdb, sys
import ray
from ray import serve, tune
import ray.data
from ray.train.torch import TorchTrainer
"""

FOUND = {
    "a task": "@ray.remote\ndef f():\n    pdb.set_trace()  # pdb-in-worker",
    "a task with options": "@ray.remote(num_cpus=1)\ndef f():\n    pdb.set_trace()  # pdb-in-worker",
    "an actor": "@ray.remote\nclass A:\n    def m(self):\n        pdb.set_trace()  # pdb-in-worker",
    "a base of an actor": (
        "class B:\n    def m(self):\n        pdb.set_trace()  # pdb-in-worker\n@ray.remote\nclass A(B): pass"
    ),
    "a wrapped function": "def f():\n    pdb.set_trace()  # pdb-in-worker\ng = ray.remote(f)",
    "a wrapped function with options": "def f():\n    pdb.set_trace()  # pdb-in-worker\ng = ray.remote(num_cpus=1)(f)",
    "a lambda": "g = ray.remote(lambda: pdb.set_trace())  # pdb-in-worker",
    "a function in a task": "@ray.remote\ndef f():\n    def g():\n        pdb.set_trace()  # pdb-in-worker\n    g()",
    "a function that a task calls": "def g():\n    pdb.set_trace()  # pdb-in-worker\n@ray.remote\ndef f():\n    g()",
    "a function two calls away": (
        "def h():\n    pdb.set_trace()  # pdb-in-worker\ndef g(): h()\n@ray.remote\ndef f(): return [g() for _ in [1]]"
    ),
    "a function of a dataset": (
        "def f(row):\n    pdb.set_trace()  # pdb-in-worker\n"
        "ds = ray.data.range(3)\nother = ds.filter(len)\nother.map(f)"
    ),
    "a class of a dataset": (
        "class F:\n    def __call__(self, b):\n        pdb.set_trace()  # pdb-in-worker\n"
        "ray.data.range(3).map_batches(F, concurrency=2)"
    ),
    "a training loop": "def loop(config):\n    pdb.set_trace()  # pdb-in-worker\nTorchTrainer(loop).fit()",
    "a training loop by its keyword": (
        "def loop():\n    pdb.set_trace()  # pdb-in-worker\nTorchTrainer(train_loop_per_worker=loop)"
    ),
    "a trial": (
        "def trial(c):\n    pdb.set_trace()  # pdb-in-worker\ntune.Tuner(tune.with_resources(trial, {'cpu': 1})).fit()"
    ),
    "a deployment": "@serve.deployment\nclass D:\n    def m(self):\n        pdb.set_trace()  # pdb-in-worker",
    "a function of a dataset that changes": (
        "def f(b):\n    pdb.set_trace()  # pdb-in-worker\nds = ray.data.range(3)\nds = ds.filter(len)\nds = ds.map(f)"
    ),
    "a function of a dataset of a parameter": (
        "def f(b):\n    pdb.set_trace()  # pdb-in-worker\ndef main(ds: ray.data.Dataset):\n    ds.map_batches(f)"
    ),
    "a function of a dataset of a parameter whose type is a string": (
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ray.data import Dataset\n"
        "def f(b):\n    pdb.set_trace()  # pdb-in-worker\ndef main(ds: 'Dataset'):\n    ds.map_batches(f)"
    ),
    "a function of a dataset of an optional parameter": (
        "def f(b):\n    pdb.set_trace()  # pdb-in-worker\ndef main(ds: 'ray.data.Dataset' | None):\n    ds.map(f)"
    ),
    "a function of a dataset of another optional parameter": (
        "import typing\ndef f(b):\n    pdb.set_trace()  # pdb-in-worker\n"
        "def main(ds: typing.Optional[ray.data.Dataset]):\n    ds.map(f)"
    ),
    "a function of groups": (
        "def f(b):\n    pdb.set_trace()  # pdb-in-worker\nray.data.range(3).groupby('a').map_groups(f)"
    ),
    "a function of a pool in a with": (
        "from ray.util.multiprocessing import Pool\ndef f(x):\n    pdb.set_trace()  # pdb-in-worker\n"
        "with Pool() as pool:\n    pool.map(f, [1])"
    ),
    "a registered trainable": (
        "class T(tune.Trainable):\n    def step(self):\n        pdb.set_trace()  # pdb-in-worker\n"
        "tune.register_trainable('t', T)"
    ),
    "a function that a task maps": (
        "def g(x):\n    pdb.set_trace()  # pdb-in-worker\n@ray.remote\ndef f(): return list(map(g, [1]))"
    ),
    "a partial function in a task": (
        "import functools\ndef g(x):\n    pdb.set_trace()  # pdb-in-worker\n"
        "@ray.remote\ndef f(): return functools.partial(g, 1)()"
    ),
    "a debugger that is made there": "@ray.remote\ndef f():\n    pdb.Pdb().set_trace()  # pdb-in-worker",
    "a debugger of a variable": (
        "@ray.remote\ndef f():\n    debugger = pdb.Pdb()\n    debugger.set_trace()  # pdb-in-worker"
    ),
    "a function of a pool": (
        "from ray.util.multiprocessing import Pool\ndef f(x):\n    pdb.set_trace()  # pdb-in-worker\n"
        "with Pool() as other: pass\npool = Pool()\npool.map(f, [1])"
    ),
    "another name of a debugger": (
        "from ipdb import set_trace as stop\n@ray.remote\ndef f():\n    stop()  # pdb-in-worker"
    ),
    "an import beside it": "@ray.remote\ndef f():\n    import pudb; pudb.set_trace()  # pdb-in-worker",
    "a post mortem": "@ray.remote\ndef f():\n    pdb.post_mortem()  # pdb-in-worker",
    "input": "@ray.remote\ndef f():\n    input()  # input-in-worker",
    "a name": 'os.environ["RAY_DEBUGER"] = "1"  # ray-debug-name',
    "a name without an underscore": "os.environ['RAY_DEBUG_POSTMORTEM'] = '1'  # ray-debug-name",
    "a keyword": 'os.environ.update(RAY_DEBUG_MORTEM="1")  # ray-debug-name',
    "a lower name": 'os.environ.setdefault("ray_debug", "1")  # ray-debug-name',
    "a name in a runtime_env": 'ray.init(runtime_env={"env_vars": {"RAY_DEBUGG": "1"}})  # ray-debug-name',
    "a value": 'os.environ["RAY_DEBUG"] = "true"  # ray-debug-value',
    "a number": 'ray.init(runtime_env={"env_vars": {"RAY_DEBUG_POST_MORTEM": 1}})  # ray-debug-value',
    "a value by putenv": 'os.putenv("RAY_DEBUG_POST_MORTEM", "yes")  # ray-debug-value',
    "a value of a keyword": 'env = ray.runtime_env.RuntimeEnv(env_vars={"RAY_DEBUG": "on"})  # ray-debug-value',
    "a union": 'os.environ |= {"RAY_DEBUG": "true"}  # ray-debug-value',
    "two targets": 'os.environ["X"] = os.environ["RAY_DEBUG"] = "true"  # ray-debug-value',
    "a variable of a runtime_env": (
        'env_vars = {"RAY_DEBUG": "true"}  # ray-debug-value\nray.init(runtime_env={"env_vars": env_vars})\n'
        'ray.init(runtime_env={"env_vars": env_vars})'
    ),
    "a runtime_env of dict": ('ray.init(runtime_env=dict(env_vars={"RAY_DEBUG": "true"}))  # ray-debug-value'),
    "legacy": 'os.environ.update({"RAY_DEBUG": "legacy"})  # ray-debug-legacy',
    "late": 'ray.init()\nos.environ["RAY_DEBUG"] = "1"  # ray-debug-after-init\nprint()',
    "late in an if": (
        'if x:\n    ray.init()\n    if y:\n        os.environ["RAY_DEBUG"] = "1"  # ray-debug-after-init'
    ),
    "late after an if": (
        'if not ray.is_initialized():\n    ray.init()\nos.environ["RAY_DEBUG"] = "1"  # ray-debug-after-init'
    ),
    "late in a with": 'with ray.init():\n    os.environ["RAY_DEBUG"] = "1"  # ray-debug-after-init',
    "late after a try": (
        'try:\n    ray.init()\nfinally:\n    print()\nos.environ["RAY_DEBUG"] = "1"  # ray-debug-after-init'
    ),
    "late in a function": (
        'def main():\n    ray.init()\n    os.environ["RAY_DEBUG"] = "1"  # ray-debug-after-init\n    print()'
    ),
    "a dropped result": "@ray.remote\ndef f():\n    breakpoint()\nf.remote()  # result-not-awaited",
    "a result that no code reads": (
        "@ray.remote\ndef f():\n    breakpoint()\nref = f.options(num_cpus=2).remote()  # result-not-awaited"
    ),
    "a dropped result in a main": (
        "@ray.remote\ndef f():\n    while True:\n        breakpoint()\n"
        "def main():\n    ray.init()\n    f.remote()  # result-not-awaited\n    print('started')\n"
        "if __name__ == '__main__':\n    main()"
    ),
    "a dropped result before calls that return at once": (
        "import logging\nlog = logging.getLogger()\ndef start(x):\n    print(len(x))\n"
        "@ray.remote\ndef f():\n    breakpoint()\n"
        "other()\nf.remote()  # result-not-awaited\nlog.info('started %s', str(1))\nstart([])\nsys.exit(0)"
    ),
    "dropped results of a loop": (
        "@ray.remote\ndef f(i):\n    breakpoint()\nfor i in range(3):\n    f.remote(i)  # result-not-awaited"
    ),
    "a limit": "@ray.remote\ndef f():\n    breakpoint()\nray.get(f.remote(), timeout=5)  # timeout-while-stopped",
    "a limit by its position": (
        "@ray.remote\ndef f():\n    breakpoint()\nasync def main():\n"
        "    await asyncio.wait_for(f.remote(), 5)  # timeout-while-stopped"
    ),
    "a limit of a block": (
        "@ray.remote\ndef f():\n    breakpoint()\nasync def main():\n"
        "    async with asyncio.timeout(5):  # timeout-while-stopped\n        await f.remote()"
    ),
    "a limit of a constant": (
        "LIMIT = 60\n@ray.remote\ndef f():\n    breakpoint()\n"
        "ray.get(f.remote(), timeout=LIMIT)  # timeout-while-stopped"
    ),
    "a limit of a group": (
        "import torch.distributed as dist\ndef loop():\n"
        "    dist.init_process_group('gloo', timeout=datetime.timedelta(minutes=5))  # timeout-while-stopped\n"
        "    breakpoint()\nTorchTrainer(loop)"
    ),
    "a limit of a response": (
        "@serve.deployment(health_check_timeout_s=7200)\ndef d():\n    breakpoint()\n"
        "handle = serve.run(d.bind())\nhandle.remote().result(timeout_s=3)  # timeout-while-stopped"
    ),
    "a health check": "@serve.deployment\nasync def d():\n    breakpoint()  # health-check-while-stopped",
    "a health check whose limit does not matter": (
        "@serve.deployment(health_check_timeout_s=3600)\nasync def d():\n    breakpoint()  # health-check-while-stopped"
    ),
    "a health check beside another argument": (
        "@serve.deployment(num_replicas=2)\nasync def d():\n    breakpoint()  # health-check-while-stopped"
    ),
    "a health check in empty brackets": (
        "@serve.deployment()\nasync def d():\n    breakpoint()  # health-check-while-stopped"
    ),
    "a health check of its own": (
        "@serve.deployment\nclass D:\n    def check_health(self): pass\n    async def m(self):\n"
        "        breakpoint()  # health-check-while-stopped"
    ),
    "a health check of its base": (
        "class B:\n    def check_health(self): pass\n@serve.deployment(num_replicas=2,)\nclass D(B):\n"
        "    async def m(self):\n        breakpoint()  # health-check-while-stopped"
    ),
    "a short health check": (
        "@serve.deployment(health_check_timeout_s=5)\nclass D:\n    async def check_health(self):\n"
        "        breakpoint()  # health-check-while-stopped"
    ),
    "a health check of a wrapped class": (
        "class D:\n    async def m(self):\n        breakpoint()  # health-check-while-stopped\nd = serve.deployment(D)"
    ),
    "a health check of a wrapped class with options": (
        "class D:\n    async def m(self):\n        breakpoint()  # health-check-while-stopped\n"
        "d = serve.deployment(num_replicas=2)(D)"
    ),
    "local mode": "ray.init(local_mode=True)  # local-mode",
    "local mode after another argument": "ray.init(num_cpus=2, local_mode=True)  # local-mode",
    "local mode before another argument": "ray.init(local_mode=True, num_cpus=2)  # local-mode",
    "local mode with a comma": "ray.init(local_mode=True,)  # local-mode",
    "a hidden error": (
        "@ray.remote\ndef f():\n    try:\n        breakpoint()  # hidden-error\n    except Exception:\n        pass"
    ),
    "a bare except": "@ray.remote\ndef f():\n    try: breakpoint()  # hidden-error\n    except: return None",
    "a debugger in a closure": (
        "debugger = pdb.Pdb()\n@ray.remote\ndef f():\n    debugger.do_where('')  # debugger-in-closure"
    ),
    "a frame in a closure": (
        "def main():\n    frame = sys._getframe()\n    @ray.remote\n    def f():\n"
        "        return frame.f_lineno  # debugger-in-closure"
    ),
    "a profiler of a script that a called function takes along": (
        "import cProfile\nprofiler = cProfile.Profile()\ndef g():\n    profiler.enable()  # debugger-in-closure\n"
        "@ray.remote\ndef f():\n    g()\nray.get(f.remote())"
    ),
    "a profiler of a script with a main": (
        "import cProfile\nprofiler = cProfile.Profile()\ndef g():\n    profiler.enable()  # debugger-in-closure\n"
        "def main():\n    TorchTrainer(g).fit()\nif __name__ == '__main__':\n    main()"
    ),
    "a profiler in a lambda of a module": (
        "import cProfile\nprofiler = cProfile.Profile()\n"
        "f = ray.remote(lambda: profiler.enable())  # debugger-in-closure"
    ),
    "a profiler in a function of a module's function": (
        "import cProfile\nprofiler = cProfile.Profile()\ndef main():\n    def g():\n"
        "        profiler.enable()  # debugger-in-closure\n    TorchTrainer(g).fit()"
    ),
    "a profiler in an actor of a module": (
        "import cProfile\nprofiler = cProfile.Profile()\n@ray.remote\nclass A:\n    def m(self):\n"
        "        profiler.enable()  # debugger-in-closure"
    ),
    "the last of exc_info": ("tb = sys.exc_info()[2]\n@ray.remote\ndef f():\n    print(tb)  # debugger-in-closure"),
    "exc_info in three names": (
        "_, _, tb = sys.exc_info()\n@ray.remote\ndef f():\n    print(tb)  # debugger-in-closure"
    ),
    "a frame's caller": (
        "import inspect\nframe = inspect.currentframe().f_back\n@ray.remote\ndef f():\n"
        "    print(frame)  # debugger-in-closure"
    ),
    "a name of two functions": (
        "def a():\n    d = pdb.Pdb()\n    @ray.remote\n    def f():\n        d.do_where('')  # debugger-in-closure\n"
        "    ray.get(f.remote())\ndef b():\n    d = pdb.Pdb()"
    ),
    "a debugger that another function makes": (
        "def a():\n    global d\n    d = pdb.Pdb()\n@ray.remote\ndef f():\n    d.do_where('')  # debugger-in-closure"
    ),
    "a traceback in a closure": (
        "error = ValueError()\ntraceback = error.__traceback__\n@ray.remote\ndef f():\n"
        "    return traceback  # debugger-in-closure"
    ),
}
"""Programs in which the lines with a code as their comment have this finding, and there are no others."""

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
