"""Executors of concurrent.futures."""

import multiprocessing
import os
import sys
import threading
from concurrent import futures


def square(number):
    return number * number


def fail(number):
    raise KeyError(number)


def end(code):
    os._exit(code)


def prepare(value):
    global PREPARED
    PREPARED = value


def prepared(_):
    return PREPARED, threading.current_thread().name


def main():
    for method in ("fork", "spawn", "forkserver"):
        context = multiprocessing.get_context(method)
        with futures.ProcessPoolExecutor(2, context, initializer=prepare, initargs=(method,)) as pool:
            print(list(pool.map(square, range(6), chunksize=2)), set(pool.map(prepared, range(4))))
            failed = pool.submit(fail, 1)
            print(repr(failed.exception()), type(failed.exception().__cause__).__name__)
        with futures.ProcessPoolExecutor(1, context) as pool:
            try:
                pool.submit(end, 1).result()
            except futures.process.BrokenProcessPool:
                print("broken")
    if sys.version_info >= (3, 11):
        with futures.ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), max_tasks_per_child=1) as pool:
            print(len(set(pool.map(pid_of, range(3)))))
    with futures.ThreadPoolExecutor(2, "pool") as pool:
        print(list(pool.map(square, range(6))), repr(pool.submit(fail, 2).exception()))
        print(sorted({name for _, name in [(0, each.name) for each in threading.enumerate()]}))
    if sys.version_info >= (3, 14):
        with futures.InterpreterPoolExecutor(2) as pool:
            print(list(pool.map(abs, range(4))))


def pid_of(_):
    return os.getpid()


if __name__ == "__main__":
    main()
