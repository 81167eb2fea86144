"""multiprocessing with each of its start methods."""

import gc
import multiprocessing
import os
import signal
import sys
import threading
import time
from multiprocessing import shared_memory


def put(queue, number):
    queue.put((number, multiprocessing.current_process().name, threading.active_count()))


def square(number):
    return number * number


def pid_of(_):
    return os.getpid()


def fail(_):
    raise ValueError("failed in a child")


def end(code):
    sys.exit(code)


def sleep():
    time.sleep(60)


def write(name):
    memory = shared_memory.SharedMemory(name)
    memory.buf[:5] = b"hello"
    memory.close()


def use_manager(counts, lock):
    for _ in range(10):
        with lock:
            counts["all"] += 1


def answer(connection):
    connection.send(connection.recv() + 1)
    connection.close()


def nest(queue, method):
    context = multiprocessing.get_context(method)
    inner = context.Process(target=put, args=(queue, "nested"), name="inner")
    inner.start()
    inner.join()


def main(method):
    context = multiprocessing.get_context(method)
    queue = context.Queue()
    processes = [context.Process(target=put, args=(queue, number), name=f"P{number}") for number in range(2)]
    processes.append(context.Process(target=nest, args=(queue, method), name="outer"))
    for each in processes:
        each.start()
    print(sorted(map(str, (queue.get(timeout=60) for _ in processes))))
    for each in processes:
        each.join()
    ended = [context.Process(target=end, args=(code,)) for code in (0, 3)]
    killed = context.Process(target=sleep)
    for each in (*ended, killed):
        each.start()
    killed.terminate()
    for each in (*ended, killed):
        each.join()
    print([each.exitcode for each in ended], killed.exitcode == -signal.SIGTERM)
    with context.Pool(2, maxtasksperchild=2) as pool:
        print(pool.map(square, range(8), chunksize=1), len(set(pool.map(pid_of, range(8), chunksize=1))) >= 4)
        try:
            pool.map(
                fail, [1], chunksize=1
            )  # Without chunksize, the pool divides by the number of workers, which may be 0.
        except ValueError as error:
            print(error)
    with context.Manager() as manager:
        counts, lock = manager.dict({"all": 0}), manager.Lock()
        workers = [context.Process(target=use_manager, args=(counts, lock)) for _ in range(2)]
        for each in workers:
            each.start()
        for each in workers:
            each.join()
        print(dict(counts))
    memory = shared_memory.SharedMemory(create=True, size=16)
    writer = context.Process(target=write, args=(memory.name,))
    writer.start()
    writer.join()
    print(bytes(memory.buf[:5]))
    memory.close()
    memory.unlink()
    ours, theirs = context.Pipe()
    asked = context.Process(target=answer, args=(theirs,), daemon=True)
    asked.start()
    ours.send(41)
    print(ours.recv())
    asked.join()


if __name__ == "__main__":
    # A run of the garbage collector in multiprocessing's resource tracker can print a warning.
    gc.disable()
    for each in ("fork", "forkserver", "spawn"):
        main(each)
    print(threading.active_count())
