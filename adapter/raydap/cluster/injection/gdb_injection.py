"""Uses gdb to run Python code in a process of this machine that was not prepared for it.

gdb only starts a thread in the process and detaches, which stops the process for about 0.1 s. The thread waits for
Python's lock like any other thread, and then runs the code. Usual tools let gdb itself wait for that lock. If the lock
is not free, they have to undo a call that is half done.

gdb makes its calls in a thread that waits in `epoll_wait`, as some of Ray's threads always do: such a thread is not in
the middle of malloc or of Python. If gdb ends at any time, the kernel lets the process continue.

The module needs only Python, because it may run on another node of the cluster. There its text is run as a program,
which reads the arguments of `refusal` as JSON.

The design is in docs/design/gdb.md.
"""

import contextlib
import json
import os
import platform
import pwd
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PTRACE_SCOPE = "/proc/sys/kernel/yama/ptrace_scope"
CAP_SYS_PTRACE = 19

GDB_TIMEOUT_S = 20.0
"""Seconds for all of gdb's work. It takes 0.3 to 1 s, most of it before the process is stopped (measured)."""

INTERRUPT_TIMEOUT_S = 3.0
"""Seconds for gdb to undo an unfinished call after GDB_TIMEOUT_S, before it is killed."""

_PAGE = 65536
"""A multiple of the page size of every machine."""

_TEXT_AT = 128
"""The offset in bytes of the text for Python from the start of the machine code."""

# The thread's memory begins with the addresses of these functions, in this order. The thread's id is at byte 64.
_FUNCTIONS = ("PyGILState_Ensure", "PyRun_SimpleStringFlags", "PyGILState_Release")

_X86_64 = """
    53                      push rbx
    41 54                   push r12
    48 83 ec 08             sub rsp, 8                  the stack has to be aligned
    48 89 fb                mov rbx, rdi                the argument: the start of the memory
    ff 13                   call [rbx]                  PyGILState_Ensure()
    41 89 c4                mov r12d, eax
    48 8d bb 80 00 01 00    lea rdi, [rbx + 0x10080]    the text is at _PAGE + _TEXT_AT
    31 f6                   xor esi, esi
    ff 53 08                call [rbx + 8]              PyRun_SimpleStringFlags(text, NULL)
    44 89 e7                mov edi, r12d
    ff 53 10                call [rbx + 16]             PyGILState_Release(state)
    48 83 c4 08             add rsp, 8
    41 5c                   pop r12
    5b                      pop rbx
    31 c0                   xor eax, eax
    c3                      ret
"""

_MACHINES = {"x86_64": (_X86_64, "232")}
"""For each machine: the code of the thread, and the number of the system call epoll_wait."""

_PREPARE = (
    "set confirm off",
    "set pagination off",
    "set width 0",
    "set auto-solib-add off",
    "set unwindonsignal on",
    # Pass the program its own signals.
    "handle all nostop noprint pass",
)

_LIBRARIES = ("/libpython3", "/libc[.-]", "/libpthread[.-]")
"""The libraries whose symbols gdb needs. Reading all libraries of a worker takes seconds."""


class InjectionFailed(Exception):
    """The code does not run in the process, or not yet. The text is the reason, for users."""


def run_in_process(pid: int, worker_id: str, source: str, node: str) -> None:
    """Make the process run this text soon.

    `worker_id` is Ray's hex id of the worker, and `node` the name of this machine for users. Raises InjectionFailed.
    Blocks, so it must not be called in an event loop.
    """
    reason = obstacle(pid, node)
    if reason:
        raise InjectionFailed(reason)
    if not is_worker(pid, worker_id):
        raise InjectionFailed("its process id now belongs to another process")
    body, system_call = _MACHINES[platform.machine()]
    was_stopped = _is_stopped(pid)
    # The file has no name, so no other user can replace it. gdb inherits its descriptor.
    with tempfile.TemporaryFile(prefix="raydap-") as file:
        size = file.write(_thread_body(body, source))
        file.flush()
        gdb = _Gdb(file.fileno())
        try:
            _start_thread(gdb, pid, worker_id, system_call, size)
        except InjectionFailed:
            if _has_ended(pid):
                raise InjectionFailed("it has ended in the meantime") from None
            raise
        finally:
            has_detached = gdb.end()
            if not (has_detached or was_stopped):
                _resume(pid)


def refusal(pid: int, worker_id: str, source: str, node: str) -> str:
    """Call `run_in_process`, and return the reason if it fails, else ""."""
    try:
        run_in_process(pid, worker_id, source, node)
    except InjectionFailed as error:
        return str(error)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def obstacle(pid: int, node: str, ptrace_scope: str = PTRACE_SCOPE) -> str:
    """Return why gdb cannot work in this process, and what would help; "" if no obstacle is known."""
    if sys.platform != "linux" or platform.machine() not in _MACHINES:
        return f"raydap can use gdb on Linux {' and '.join(_MACHINES)} only"
    reason = tracing_obstacle(pid, node, ptrace_scope)
    if not reason and shutil.which("gdb") is None:
        return f"gdb is not installed on {node}; install it there, for example with `apt-get install gdb`"
    return reason


def tracing_obstacle(pid: int, node: str, ptrace_scope: str = PTRACE_SCOPE) -> str:
    """Return why no process of this user may trace this one, on Linux; "" if no obstacle is known."""
    status = _status(pid)
    if _has_ended(pid):
        return f"raydap cannot see its process on {node}: it has ended, or runs in its own container"
    owner = int(status["Uid"].split()[0])
    may_trace = has_capability(CAP_SYS_PTRACE)
    if owner != os.geteuid() and not may_trace:
        return f"it belongs to the user {user_name(owner)}; run raydap as that user, or as root"
    if status.get("TracerPid", "0") != "0":
        return f"process {status['TracerPid']} on {node} already debugs it; end that process"
    try:
        scope = Path(ptrace_scope).read_text().strip()
    except OSError:
        return ""
    if scope == "3":
        return f"the kernel of {node} forbids debuggers until the next reboot (kernel.yama.ptrace_scope=3)"
    if scope != "0" and not may_trace:
        return (
            f"the kernel of {node} forbids it (kernel.yama.ptrace_scope={scope}); "
            "run `sudo sysctl kernel.yama.ptrace_scope=0` there, or give raydap the capability SYS_PTRACE"
        )
    return ""


def is_worker(pid: int, worker_id: str) -> bool:
    """Return whether the process can be this worker.

    Ray's workers write to files whose names contain their ids. The injected code checks the id, too, but gdb should not
    even stop another process.
    """
    for number in (1, 2):
        with contextlib.suppress(OSError):
            found = re.search(r"/worker-([0-9a-f]{8,})-", os.readlink(f"/proc/{pid}/fd/{number}"))
            if found is not None:
                return found[1] == worker_id
    return True


def _start_thread(gdb: "_Gdb", pid: int, worker_id: str, system_call: str, size: int) -> None:
    """Start a thread in the process. Its code and text are in gdb's file, `size` bytes long."""
    for command in _PREPARE:
        gdb.do(command)
    output = gdb.do(f"attach {pid}")
    if not gdb.prints(r'printf "%d\n", $_inferior_thread_count', "[1-9]"):
        raise InjectionFailed(_refusal(output))
    if not is_worker(pid, worker_id):
        raise InjectionFailed("its process id now belongs to another process")
    for library in _LIBRARIES:
        gdb.do(f"sharedlibrary {library}")
    for name in (*_FUNCTIONS, "mmap", "mprotect", "pthread_create", "pthread_detach"):
        if not gdb.prints(f"info address {name}", "is at "):
            raise InjectionFailed(f"gdb cannot find the function {name} in it: its Python has no symbols")
    gdb.do(f"thread {_idle_thread(gdb, pid, system_call)}")
    if not _can_call(gdb):
        raise InjectionFailed("gdb is too old for this processor, whose registers it cannot write; install gdb 14")
    # The memory is written first and made executable later, because kernels can forbid both at a time.
    gdb.do(f"set $memory = ((char*(*)(void*,long,int,int,int,long))mmap)(0,{_PAGE + size},3,0x22,-1,0)")
    if gdb.prints("print (long)$memory", r"= (-1|void|0)\s*$"):
        raise InjectionFailed("it cannot allocate memory for a thread")
    gdb.do(f"restore {gdb.file} binary $memory+{_PAGE}")
    for place, name in enumerate(_FUNCTIONS):
        gdb.do(f"set {{long}}($memory+{8 * place}) = (long)&{name}")
    if not gdb.prints(f"print ((int(*)(void*,long,int))mprotect)($memory+{_PAGE},{size},5)", r"= 0\s*$"):
        raise InjectionFailed("the kernel forbids new code in it")
    create = "((int(*)(void*,void*,void*,void*))pthread_create)"
    if not gdb.prints(f"print {create}($memory+64,0,$memory+{_PAGE},$memory)", r"= 0\s*$"):
        raise InjectionFailed("it cannot start a thread")
    gdb.do("print ((int(*)(long))pthread_detach)({long}($memory+64))")
    gdb.do("detach")


def _can_call(gdb: "_Gdb") -> bool:
    """Return whether gdb can write the registers that a call needs.

    Before version 14, gdb has no room for the registers of processors with AMX, and prints "Couldn't write extended
    state status". If it begins a call anyway, it leaves the thread in a system call that fails for no reason.

    The check changes the flag for an inexact result in a register, which has no effect on the program, and restores it.
    """
    gdb.do("set $saved = (int)$mxcsr")
    output = gdb.do("set $mxcsr = $saved ^ 0x20") + gdb.do("set $mxcsr = $saved")
    return "Couldn't write" not in output


def _idle_thread(gdb: "_Gdb", pid: int, system_call: str) -> str:
    """Return gdb's number of a thread in which gdb can make calls."""
    for task in os.listdir(f"/proc/{pid}/task"):
        with contextlib.suppress(OSError):
            if int(task) != pid and Path(f"/proc/{pid}/task/{task}/syscall").read_text().split()[0] == system_call:
                found = re.search(r"Thread (\d+) has", gdb.do(f"thread find LWP {task}\\b"))
                if found is not None:
                    return found[1]
    raise InjectionFailed("it has no thread in which gdb could safely make a call")


def _thread_body(listing: str, source: str) -> bytes:
    """Return the machine code, and behind it the text for Python, which does not change the module `__main__`."""
    code = b"".join(bytes.fromhex(line[:28]) for line in listing.splitlines())
    return code.ljust(_TEXT_AT, b"\0") + f"exec({source!a}, {{}})".encode() + b"\0"


def _refusal(output: str) -> str:
    if "Operation not permitted" in output:
        return "the kernel does not let gdb attach to it; a container needs the capability SYS_PTRACE for that"
    last = [line for line in output.splitlines() if line.strip()][-1:]
    return f"gdb cannot attach to it ({' '.join(' '.join(last).split())[:200]})"


class _Gdb:
    """A gdb that reads no file of the user or of the process. Must be ended.

    It inherits a descriptor, which it opens by the path `file`.
    """

    MARK = "raydap-was-here"
    """The line that gdb prints after each command."""

    def __init__(self, descriptor: int) -> None:
        self.file = f"/proc/self/fd/{descriptor}"
        # The modules of another Python would disturb the Python in gdb.
        environ = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        environ["DEBUGINFOD_URLS"] = ""
        environ["LC_ALL"] = "C"
        command = ["gdb", "-nx", "-nw", "-quiet", "--readnever", "-iex", "set auto-load no"]
        self._deadline = time.monotonic() + GDB_TIMEOUT_S
        self._buffer = b""
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environ,
            pass_fds=(descriptor,),
            # Ctrl+C must not reach gdb, which would leave a call half done.
            start_new_session=True,
        )

    def do(self, command: str) -> str:
        """Return gdb's output for a command. Raises InjectionFailed if gdb hangs or has ended."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{command}\necho \\n{self.MARK}\\n\n".encode())
            self._process.stdin.flush()
        except OSError:
            raise InjectionFailed("gdb has ended") from None
        return self._read(self._deadline)

    def prints(self, command: str, pattern: str) -> bool:
        """Return whether gdb's output for a command matches a pattern."""
        return re.search(pattern, self.do(command)) is not None

    def end(self) -> bool:
        """Detach from the process and end gdb. Return whether gdb could do that itself.

        gdb first undoes a call that hangs (`set unwindonsignal`).
        """
        if time.monotonic() >= self._deadline and self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            with contextlib.suppress(InjectionFailed):
                self._read(time.monotonic() + INTERRUPT_TIMEOUT_S)
        try:
            self._process.communicate(b"detach\nquit\n", timeout=INTERRUPT_TIMEOUT_S)
        except (OSError, ValueError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.communicate()
        return self._process.returncode == 0

    def _read(self, deadline: float) -> str:
        assert self._process.stdout is not None
        mark = f"\n{self.MARK}\n".encode()
        while mark not in self._buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self._process.stdout], [], [], left)[0]:
                raise InjectionFailed(f"gdb did not finish within {GDB_TIMEOUT_S:g} s")
            data = os.read(self._process.stdout.fileno(), 65536)
            if not data:
                raise InjectionFailed("gdb has ended")
            self._buffer += data
        output, _, self._buffer = self._buffer.partition(mark)
        return output.decode(errors="replace").replace("(gdb) ", "")


def _status(pid: int) -> dict[str, str]:
    """Return the fields of /proc/PID/status; none if there is no such process."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return {}
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def has_capability(number: int) -> bool:
    """Return whether this process has the capability; False where /proc is not readable."""
    return bool(int(_status(os.getpid()).get("CapEff", "0"), 16) >> number & 1)


def user_name(uid: int) -> str:
    """Return the name of a user, or the number of a user without a name."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def _has_ended(pid: int) -> bool:
    return _status(pid).get("State", "X")[:1] in ("Z", "X")


def _is_stopped(pid: int) -> bool:
    """Return whether a signal has stopped the process, as Ctrl+Z in a shell does."""
    return _status(pid).get("State", "")[:1] == "T"


def _resume(pid: int) -> None:
    """Resume the process if a gdb that was killed while it attached has left a stop signal behind.

    The caller skips this for a process that was already stopped.
    """
    until = time.monotonic() + INTERRUPT_TIMEOUT_S
    while _status(pid).get("State", "")[:1] == "t" and time.monotonic() < until:
        time.sleep(0.01)
    if _is_stopped(pid):
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGCONT)


if __name__ == "__main__":
    sys.stdout.write(refusal(*json.load(sys.stdin)))
