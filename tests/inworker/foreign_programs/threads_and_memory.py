"""Threads, their names and locals, recursion, weak references and the garbage collector."""

import _thread
import contextvars
import gc
import inspect
import sys
import threading
import tracemalloc
import weakref

variable = contextvars.ContextVar("variable", default=0)
seen = []


def depth():
    frame, number = sys._getframe(), 0
    while frame is not None:
        frame, number = frame.f_back, number + 1
    return number


def recurse(level=0):
    try:
        return recurse(level + 1)
    except RecursionError:
        return level


def work():
    variable.set(1)
    seen.append((threading.current_thread().name, variable.get(), [each.function for each in inspect.stack()][:4]))


class Node:
    pass


threads = [threading.Thread(target=work) for _ in range(2)]
for each in threads:
    each.start()
    each.join()
print(seen, variable.get(), depth())
threading.stack_size(256 * 1024)
named = threading.Thread(target=work, name="named", daemon=True)
print(named)
named.start()
named.join()
print(threading.stack_size(0), named.is_alive(), threading.enumerate() == [threading.main_thread()])
done = _thread.allocate_lock()
done.acquire()
count = _thread._count()
for _ in range(3):
    _thread.start_new_thread(done.release, ())
    print(done.acquire(timeout=10))
while _thread._count() > count:
    pass
print(threading.enumerate() == [threading.main_thread()])
timer = threading.Timer(0.01, seen.clear)
timer.start()
timer.join()
print(seen)
sys.setrecursionlimit(200)
print(recurse(), file=sys.stderr)
sys.setrecursionlimit(1000)
node = Node()
node.itself = node
reference = weakref.ref(node)
del node
print(gc.collect() >= 1, reference())
number = object()
held = [number] * 3
print(sys.getrefcount(number))
tracemalloc.start()
data = [bytes(1000) for _ in range(100)]
print(tracemalloc.get_traced_memory()[0] > 100_000)
tracemalloc.stop()
local = threading.local()
local.value = Node()
print(sys.getswitchinterval(), sys.getrecursionlimit(), gc.isenabled(), gc.get_threshold(), gc.callbacks)


def in_thread():
    local.value = Node()
    seen.append(weakref.ref(local.value))
    print(sorted(vars(local)))


thread = threading.Thread(target=in_thread)
thread.start()
thread.join()
generator = (each for each in range(3))
print(next(generator), generator.gi_frame.f_locals["each"], list(generator), generator.gi_frame)
with_hook = []
threading.excepthook = lambda args: with_hook.append((args.exc_type.__name__, args.thread.name))
failing = threading.Thread(target=lambda: 1 / 0, name="failing")
failing.start()
failing.join()
print(with_hook)
print(sys.stdin, sys.stdout.fileno(), sys.displayhook is sys.__displayhook__)
