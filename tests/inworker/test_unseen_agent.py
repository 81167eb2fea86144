"""A program does not see its agent: threads, descriptors, environment and warnings are the same as without it."""

import os
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest
from local_cluster import Child

from support.agents import PreparedProgram, attach, hanging_up, read_line

pytestmark = pytest.mark.core

PLAIN = "import runpy, sys; runpy.run_path(sys.argv[1], run_name='__main__')"

PROGRAM = """\
import _thread, builtins, ctypes, os, subprocess, sys, threading, time, warnings

def print(*words, flush=True):
    # In one piece: the forked child writes beside its parent.
    os.write(1, (" ".join(map(str, words)) + "\\n").encode())

open(os.path.join(os.path.dirname(__file__), "go")).close()
warnings.simplefilter("always")
warnings.showwarning = lambda text, kind, file, line, *more: print("warned", str(text).split(")")[1], file, line)

def look():
    print("threads", threading.enumerate() == [threading.main_thread()])
    print(threading.active_count(), len(threading._active))
    print([sorted(vars(module)) for module in (builtins, _thread)])
    print(sorted(vars(threading)), _thread.start_new)
    print("descriptors", [number for number in range(192) if is_open(number)], flush=True)

def is_open(number):
    try:
        os.fstat(number)
    except OSError:
        return False
    return not os.readlink(f"/proc/self/fd/{number}").count("libffi")  # Some Pythons keep that open.

look()
print([os.open("/dev/null", os.O_RDONLY) for _ in range(3)])
os.closerange(3, 192)
warnings.warn("seen (once)", stacklevel=1)
if os.fork() == 0:
    look()
    os._exit(0)
os.wait()
LOOK = "import os; print([number for number in range(192) if os.path.exists(f'/proc/self/fd/{number}')], flush=True)"
subprocess.run([sys.executable, "-c", LOOK])
TELL = "import os; print(sorted(os.environ), os.environ.get('FRUIT'), os.environ.get('PYTHONPATH'), flush=True)"
subprocess.run([sys.executable, "-c", TELL], preexec_fn=lambda: os.putenv("FRUIT", "apple"))
subprocess.run([sys.executable, "-c", TELL], preexec_fn=lambda: os.putenv("PYTHONPATH", "/x"))
subprocess.run([sys.executable, "-c", TELL], preexec_fn=lambda: None, env={"FRUIT": "pear"})
over = threading.Event()
threading.Thread(target=over.wait).start()
print(threading.active_count(), len(threading.enumerate()))
if os.fork() == 0:
    look()
    os._exit(0)
os.wait()
over.set()
"""


@pytest.mark.parametrize("has_session", [False, True])
def test_a_program_does_not_see_it(
    tmp_path: Path, packages: Path | None, children: ExitStack, has_session: bool, debugpy_is_too_old: bool
) -> None:
    """With `has_session`, a session has ended before the program checks."""
    if has_session and debugpy_is_too_old:
        pytest.skip("this debugpy cannot debug it")
    os.mkfifo(tmp_path / "go")
    program = PreparedProgram.start(PROGRAM, tmp_path, packages if has_session else None, children)
    if has_session:
        attach(program, program.called(), children).leave()
        assert read_line(program.dial())["holder"] == ""
    with hanging_up(program.listener):
        (tmp_path / "go").write_text("")
        assert program.child.wait() == 0, program.child.output
    command = [sys.executable, "-c", PLAIN, str(program.path)]
    environment = {} if packages is None or not has_session else {"PYTHONPATH": str(packages)}
    plain = children.enter_context(Child(command, tmp_path / "plain.log", environment))
    (tmp_path / "go").write_text("")
    assert plain.wait() == 0, plain.output
    # The lines of the parent and of its forked child come in any order.
    assert sorted(program.child.output.splitlines()) == sorted(plain.output.splitlines())
    assert "apple" in plain.output
    assert plain.output.count("multi-threaded") == (sys.version_info >= (3, 12))
