"""Lines that coverage measures in its own process, begun and ended by its functions."""

import sys
import threading
from pathlib import Path

import coverage

Path("measured.py").write_text("""\
def work(number):
    if number > 1:
        return number
    return work(number + 1)

def other():
    yield from range(2)
""")
sys.path.insert(0, "")
measured = coverage.Coverage(data_file=None, include=["*/measured.py"])
measured.start()
import measured as module

print(module.work(0), list(module.other()))
thread = threading.Thread(target=module.work, args=(0,))
thread.start()
thread.join()
measured.stop()
print(sorted(measured.get_data().lines(module.__file__)))
