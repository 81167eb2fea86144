"""Threads, subprocesses, forks and signals in a program that gevent has patched."""

from gevent import monkey

monkey.patch_all()

import os
import queue
import signal
import subprocess
import sys
import threading

import gevent
from gevent.pool import Pool
from gevent.threadpool import ThreadPool

local = threading.local()
results: "queue.Queue[tuple[int, str]]" = queue.Queue()


def work(number):
    local.number = number
    gevent.sleep(0.01)
    answer = subprocess.run([sys.executable, "-c", f"print({number} * 2)"], capture_output=True, text=True)
    results.put((local.number, answer.stdout))


threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
for each in threads:
    each.start()
for each in threads:
    each.join()
print(sorted(results.get() for _ in threads))
print(Pool(2).map(lambda number: number + 1, range(4)))
print(ThreadPool(2).map(lambda number: number + 1, range(4)))

process = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
print(process.communicate(b"through a pipe"), process.returncode)
try:
    subprocess.run(["sleep", "60"], timeout=0.05)
except subprocess.TimeoutExpired as error:
    print(error.timeout)

pid = os.fork()
if pid == 0:
    gevent.sleep(0.01)
    os._exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))

arrived = threading.Event()
signal.signal(signal.SIGUSR1, lambda *_: arrived.set())
os.kill(os.getpid(), signal.SIGUSR1)
print(arrived.wait(10))
with gevent.Timeout(0.05, False):
    gevent.sleep(60)
print(type(threading.current_thread()).__name__)
print(threading.active_count(), file=sys.stderr)
