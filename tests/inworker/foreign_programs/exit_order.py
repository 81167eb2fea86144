"""The order of the functions that run at the end of a program."""

import atexit
import os
import sys
import threading
import time
import weakref


class Ends:
    def __init__(self, name):
        self.name = name

    def __del__(self, print=print):
        print("deleted", self.name)


def at_exit(name):
    print(name, threading.current_thread() is threading.main_thread(), threading.active_count(), flush=True)


def slow(event):
    event.wait()
    time.sleep(0.05)
    print("thread ended")


sys.stdout.reconfigure(line_buffering=True)
atexit.register(at_exit, "first registered")
kept = Ends("global")
finalizer = weakref.finalize(kept, print, "finalized")
atexit.register(at_exit, "last registered")
event = threading.Event()
threading.Thread(target=slow, args=(event,)).start()
threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
forks = []
os.register_at_fork(before=lambda: forks.append("before"), after_in_parent=lambda: forks.append("parent"))
os.register_at_fork(after_in_child=lambda: forks.append("child"))
pid = os.fork()
if pid == 0:
    print(forks)
    atexit.unregister(at_exit)
    atexit.register(print, "at the child's exit")
    finalizer.detach()
    event.set()
    sys.exit(3)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), forks)


def hook(*args):
    print("excepthook", args[0].__name__)


sys.excepthook = hook
event.set()
raise ValueError
