"""Signal handlers, timers and waits."""

import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time

seen = []


class Timeout(Exception):
    pass


def raise_timeout(number, frame):
    raise Timeout(frame.f_code.co_name)


def busy():
    while True:
        pass


def sleeping():
    time.sleep(60)


def locked():
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()


def reading():
    receiver, _sender = socket.socketpair()
    receiver.recv(1)


signal.signal(signal.SIGALRM, raise_timeout)
for each in (busy, sleeping, locked, reading):
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        each()
    except Timeout as error:
        print(error)
signal.signal(signal.SIGALRM, lambda *_: seen.append(len(seen)))
signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
while len(seen) < 5:
    time.sleep(0.001)
print(signal.setitimer(signal.ITIMER_REAL, 0)[1])
signal.signal(signal.SIGPROF, lambda *_: seen.append("prof"))
signal.setitimer(signal.ITIMER_PROF, 0.01, 0.01)
while "prof" not in seen:
    sum(range(1000))
signal.setitimer(signal.ITIMER_PROF, 0)
signal.alarm(1)
print(signal.alarm(0))

ended = []


def reap(*_):
    try:
        while (found := os.waitpid(-1, os.WNOHANG))[0]:
            ended.append(os.waitstatus_to_exitcode(found[1]))
    except ChildProcessError:
        pass


signal.signal(signal.SIGCHLD, reap)
for code in (3, 4):
    if os.fork() == 0:
        os._exit(code)
os.posix_spawn(sys.executable, [sys.executable, "-c", "exit(5)"], os.environ)
while len(ended) < 3:
    signal.pause() if False else time.sleep(0.01)
print(sorted(ended))
signal.signal(signal.SIGCHLD, signal.SIG_DFL)

signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1, signal.SIGUSR2])
os.kill(os.getpid(), signal.SIGUSR1)
print(signal.sigpending(), signal.sigwait([signal.SIGUSR1]), signal.sigtimedwait([signal.SIGUSR2], 0.01))
threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGUSR2)).start()
print(signal.sigwaitinfo([signal.SIGUSR2]).si_signo)
signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGUSR1, signal.SIGUSR2])

receiver, sender = socket.socketpair()
sender.setblocking(False)
signal.set_wakeup_fd(sender.fileno())
signal.signal(signal.SIGUSR1, lambda *_: None)
os.kill(os.getpid(), signal.SIGUSR1)
print(select.select([receiver], [], [], 10)[0] == [receiver], receiver.recv(10), signal.set_wakeup_fd(-1) != -1)
print(subprocess.run([sys.executable, "-c", "import os; os.kill(os.getpid(), 15)"]).returncode)
SIGINT = "import os, signal, time; os.kill(os.getpid(), signal.SIGINT); time.sleep(60)"
interrupted = subprocess.run([sys.executable, "-c", SIGINT], capture_output=True, text=True)
print(interrupted.returncode, interrupted.stderr.splitlines()[-1])
thread = threading.Thread(target=lambda: signal.pthread_kill(threading.main_thread().ident, signal.SIGUSR1))
signal.signal(signal.SIGUSR1, lambda *_: print(threading.current_thread() is threading.main_thread()))
thread.start()
thread.join()
print([signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE)])
