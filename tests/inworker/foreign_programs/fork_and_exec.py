"""All ways to start another program."""

import os
import pty
import subprocess
import sys
import tempfile
import warnings

CODE = "import os, sys; print(sys.argv[1:], os.environ.get('FRUIT'), 'PYTHONPATH' in os.environ); sys.exit(6)"
COMMAND = [sys.executable, "-c", CODE, "a b"]
environment = {**os.environ, "FRUIT": "pear"}
sys.stdout.reconfigure(line_buffering=True)


def forked(run):
    pid = os.fork()
    if pid == 0:
        try:
            run()
        except OSError as error:
            os._exit(error.errno)
        os._exit(99)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


forked(lambda: os.execv(sys.executable, COMMAND))
forked(lambda: os.execve(sys.executable, COMMAND, environment))
forked(lambda: os.execvp("python3", ["python3", "-c", "exit(8)"]))
forked(lambda: os.execlp("true", "true"))
forked(lambda: os.execvpe("sh", ["sh", "-c", "exit $FRUIT"], {**environment, "FRUIT": "9"}))
forked(lambda: os.execv("/nothing", ["nothing"]))
print(os.spawnv(os.P_WAIT, sys.executable, COMMAND), os.spawnve(os.P_WAIT, sys.executable, COMMAND, environment))
print(os.waitstatus_to_exitcode(os.waitpid(os.posix_spawn(sys.executable, COMMAND, environment), 0)[1]))
print(os.waitstatus_to_exitcode(os.waitpid(os.posix_spawnp("sh", ["sh", "-c", "exit 3"], environment), 0)[1]))
print(os.waitstatus_to_exitcode(os.system(f"{sys.executable} -c 'exit(4)'")), os.popen("echo popen").read())
print(subprocess.run(COMMAND, env=environment).returncode, subprocess.run(COMMAND, env={}).returncode)
print(subprocess.getstatusoutput(f"{sys.executable} -c 'print(1); exit(2)'"))
print(subprocess.run(COMMAND, preexec_fn=lambda: os.putenv("FRUIT", "fig"), start_new_session=True).returncode)
read, write = os.pipe()
passed = subprocess.Popen([sys.executable, "-c", f"import os; os.write({write}, b'passed')"], pass_fds=[write])
print(passed.wait(), os.read(read, 10))
print(subprocess.run("exit 7", shell=True).returncode, subprocess.call(["false"]))
try:
    subprocess.run(["/nothing"])
except FileNotFoundError as error:
    print(error)
with tempfile.TemporaryFile() as file:
    subprocess.run(
        [sys.executable, "-c", "import sys; print('out'); print('err', file=sys.stderr)"], stdout=file, stderr=-2
    )
    file.seek(0)
    print(sorted(file.read().split()))
pid, terminal = pty.fork()
if pid == 0:
    print(sys.stdin.isatty())
    os._exit(2)
output = b""
try:
    while data := os.read(terminal, 100):
        output += data
except OSError:
    pass
print(output, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
warnings.simplefilter("error")
pid = os.fork()
if pid == 0:
    sys.exit(0)
print(os.waitpid(pid, 0)[1])
os.execv(
    sys.executable,
    [sys.executable, "-c", "import os, sys; print(sorted(os.listdir('/proc/self/fd'))[:3]); sys.exit(5)"],
)
