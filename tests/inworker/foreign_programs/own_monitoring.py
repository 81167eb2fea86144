"""The events that a tool of sys.monitoring receives."""

import sys
import threading

monitoring, events = sys.monitoring, sys.monitoring.events
counts = {}


def count(name):
    def callback(code, *rest):
        if code.co_name in ("work", "numbers", "fail"):
            counts[code.co_name, name] = counts.get((code.co_name, name), 0) + 1

    return callback


def numbers():
    yield 1
    yield 2


def fail():
    raise ValueError


def work():
    total = sum(numbers())
    try:
        fail()
    except ValueError:
        total += 1
    for number in range(3):
        total += number
    return len(str(total))


NAMES = ("PY_START", "PY_RESUME", "PY_RETURN", "PY_YIELD", "CALL", "LINE", "JUMP", "RAISE", "PY_UNWIND")
NAMES += ("EXCEPTION_HANDLED", "STOP_ITERATION")
for tool in (2, 3):
    monitoring.use_tool_id(tool, f"tool {tool}")
for name in NAMES:
    monitoring.register_callback(2, getattr(events, name), count(name))
monitoring.set_events(2, sum(getattr(events, name) for name in NAMES))
work()
thread = threading.Thread(target=work)
thread.start()
thread.join()
monitoring.set_events(2, 0)
print(sorted(counts.items()))
counts.clear()


def once(code, offset):
    counts["once"] = counts.get("once", 0) + 1
    return monitoring.DISABLE


monitoring.register_callback(3, events.LINE, once)
monitoring.set_local_events(3, work.__code__, events.LINE)
for _ in range(3):
    work()
first = counts["once"]
monitoring.restart_events()
work()
print(first, counts["once"] - first, monitoring.get_local_events(3, work.__code__))
for tool in (2, 3):
    monitoring.free_tool_id(tool)
print([monitoring.get_tool(tool) for tool in (1, 2, 3, 5)])
