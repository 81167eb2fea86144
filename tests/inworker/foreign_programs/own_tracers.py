"""The events that functions of sys.settrace, sys.setprofile and threading.settrace receive, and modules with these."""

import bdb
import cProfile
import io
import pstats
import sys
import threading
import trace

seen = {}


def count(kind):
    def tracer(frame, event, arg):
        if frame.f_code.co_name in ("work", "inner"):
            key = kind, threading.current_thread().name, frame.f_code.co_name, event
            seen[key] = seen.get(key, 0) + 1
        return tracer

    return tracer


def work():
    total = 0
    for number in range(3):
        total += inner(number)
    return total


def inner(number):
    return len(str(number))


def report(what):
    for key, number in sorted(seen.items()):
        print(what, *key, number)
    seen.clear()


def in_thread(name):
    thread = threading.Thread(target=work, name=name)
    thread.start()
    thread.join()


ours = count("trace")
sys.settrace(ours)
print(sys.gettrace() is ours, work())
sys.settrace(None)
report("sys.settrace")
threading.settrace(ours)
in_thread("traced")
threading.settrace(None)
in_thread("not traced")
report("threading.settrace")
profiler = count("profile")
sys.setprofile(profiler)
print(sys.getprofile() is profiler)
work()
sys.setprofile(None)
threading.setprofile(profiler)
in_thread("profiled")
threading.setprofile(None)
report("setprofile")
if sys.version_info >= (3, 12):
    threading.settrace_all_threads(ours)
    work()
    in_thread("all")
    threading.settrace_all_threads(None)
    threading.setprofile_all_threads(profiler)
    work()
    threading.setprofile_all_threads(None)
    report("all threads")

with cProfile.Profile() as profile:
    work()
print(sorted(name for _, _, name in pstats.Stats(profile, stream=io.StringIO()).stats if name in ("work", "inner")))
tracer = trace.Trace(count=1, trace=0)
tracer.runfunc(work)
print(sorted(tracer.results().counts.values()))


class Stepper(bdb.Bdb):
    lines = 0

    def user_line(self, frame):
        if frame.f_code.co_name in ("work", "inner"):
            self.lines += 1
        self.set_step()


stepper = Stepper()
stepper.runcall(work)
print(stepper.lines)
print(sys.gettrace(), sys.getprofile(), threading.gettrace(), threading.getprofile())
