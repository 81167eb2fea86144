"""Exit codes and tracebacks of programs that end by an error."""

import subprocess
import sys

PROGRAMS = (
    "raise ValueError('text')",
    "import sys; sys.exit(3)",
    "import sys; sys.exit('text')",
    "raise SystemExit",
    "import os; os._exit(5)",
    "import os; os.abort()",
    "raise KeyboardInterrupt",
    "def f(): f()\nf()",
    "import threading\ndef f(): 1 / 0\nt = threading.Thread(target=f, name='T'); t.start(); t.join()",
    "import threading, sys\nt = threading.Thread(target=sys.exit, args=(3,)); t.start(); t.join()",
    "import _thread\n_thread.start_new_thread(_thread.interrupt_main, ())\nwhile True: pass",
    "class A:\n  def __del__(self): raise ValueError('unraisable')\nA()",
    "try:\n  1 / 0\nexcept ZeroDivisionError as e:\n  raise KeyError(1) from e",
    "import asyncio\nasync def f(): raise OSError(2, 'text')\nasyncio.run(f())",
    "async def f(): pass\nf()",
    "import warnings; warnings.warn('text')",
    "this is no Python",
    "import nothing_here",
    "def f():\n  yield 1\n  raise StopIteration\nlist(f())",
    "assert False, 'text'",
)
for each in PROGRAMS:
    answer = subprocess.run([sys.executable, "-c", each], capture_output=True, text=True)
    print(answer.returncode, answer.stdout, answer.stderr)
    open("program.py", "w").write(each)
    answer = subprocess.run([sys.executable, "program.py"], capture_output=True, text=True)
    print(answer.returncode, answer.stdout, answer.stderr)
raise ValueError("the end")
