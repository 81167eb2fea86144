"""Programs in which the rules of the language server find something."""

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
    "a function of a dataset of a parameter without a type": (
        "def f(b):\n    pdb.set_trace()  # pdb-in-worker\ndef main(ds):\n    ds.map_batches(f)"
    ),
    "a method of a dataset": (
        "class A:\n    def m(self, b):\n        pdb.set_trace()  # pdb-in-worker\n"
        "    def main(self): ray.data.range(3).map(self.m)"
    ),
    "a chosen trial": "def f(c):\n    pdb.set_trace()  # pdb-in-worker\ntune.Tuner(f if x else None).fit()",
    "a function of an actor": "def f(a):\n    pdb.set_trace()  # pdb-in-worker\nactor.__ray_call__.remote(f)",
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
    "a limit in milliseconds": (
        "from ray.util.collective import init_collective_group\n@ray.remote\ndef f():\n    breakpoint()\n"
        "init_collective_group(2, 0, 'gloo', gloo_timeout=30000)  # timeout-while-stopped"
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
"""Programs in which each line with a code as its comment has this finding, and no other line has one."""
