"""Consoles that read from a pipe or a terminal, and pdb."""

import code
import io
import os
import pty
import subprocess
import sys

LINES = "x = 6\nprint(x * 7)\nfor i in range(2):\n    print(i)\n\n1 / 0\nimport sys; sys.ps1 = 'next '\n'last'\n"


def run(*words, text=LINES):
    answer = subprocess.run([sys.executable, *words], input=text, capture_output=True, text=True)
    print(words, answer.returncode, answer.stdout, answer.stderr)


sys.stdin = io.StringIO(LINES)
code.interact("hello", local={"y": 1}, exitmsg="bye")
console = code.InteractiveConsole({"z": 2})
print(console.push("if z:"), console.push("    print(z)"), console.push(""), console.push("("))
sys.stdin = sys.__stdin__
run("-i", "-q")
run("-i", "-c", "y = 3", text="y\n")
run("-q", "-c", "import code; code.interact('banner')")
open("debugged.py", "w").write("def f(x):\n    y = x + 1\n    return y\n\nprint(f(1))\nbreakpoint()\nprint('after')\n")
run("-m", "pdb", "debugged.py", text="b f\nc\np x\nn\np y\nc\np f\nc\nq\n")
run("debugged.py", text="w\np f(3)\nc\n")
run("-c", "import pdb\ntry:\n  1/0\nexcept Exception:\n  pdb.post_mortem()", text="p 5\nq\n")


def read(number):
    try:
        return os.read(number, 1024)
    except OSError:
        return b""


output = io.BytesIO()
pid, terminal = pty.fork()
if pid == 0:
    os.execve(
        sys.executable, [sys.executable, "-c", "print(input('? ')); print(input())"], {**os.environ, "TERM": "dumb"}
    )
os.write(terminal, b"first\nsecond\n")
while data := read(terminal):
    output.write(data)
print(output.getvalue().count(b"first"), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
