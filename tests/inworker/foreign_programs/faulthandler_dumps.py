"""Tracebacks that faulthandler writes: at once, later, for a signal, and for a crash."""

import faulthandler
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time


def show(write):
    with tempfile.TemporaryFile("w+") as file:
        write(file)
        file.seek(0)
        # The lines of a later dump vary, so only the names of the functions are printed.
        print([line.split(" in ")[-1].strip() for line in file if "File" in line and "faulthandler_dumps" in line])


def later(file):
    faulthandler.dump_traceback_later(0.05, file=file, exit=False)
    time.sleep(0.2)
    faulthandler.cancel_dump_traceback_later()


def at_signal(file):
    faulthandler.register(signal.SIGUSR1, file=file, all_threads=False, chain=True)
    os.kill(os.getpid(), signal.SIGUSR1)
    faulthandler.unregister(signal.SIGUSR1)


CRASH = "import faulthandler, os, signal, sys; faulthandler.enable(); os.kill(os.getpid(), signal.{})"
LATER = "import faulthandler, time; faulthandler.dump_traceback_later(0.05, exit=True); time.sleep(60)"

signal.signal(signal.SIGUSR1, lambda *_: print("handled"))
over = threading.Event()
thread = threading.Thread(target=over.wait)
thread.start()
show(lambda file: faulthandler.dump_traceback(file, all_threads=False))
show(lambda file: faulthandler.dump_traceback(file, all_threads=True))
show(at_signal)
show(later)
over.set()
thread.join()
faulthandler.enable()
print(faulthandler.is_enabled())
for name in ("SIGSEGV", "SIGFPE", "SIGABRT", "SIGBUS", "SIGILL"):
    crashed = subprocess.run([sys.executable, "-c", CRASH.format(name)], capture_output=True, text=True)
    print(crashed.returncode, crashed.stderr.splitlines()[0], crashed.stderr.count("<string>"))
ended = subprocess.run([sys.executable, "-c", LATER], capture_output=True, text=True)
print(ended.returncode, ended.stderr.count("<string>"))
